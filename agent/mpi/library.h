/* library.h: the process's MPI library, its symbols, and the addresses of its code. Without mpi.h. */
#ifndef MPITX_LIBRARY_H
#define MPITX_LIBRARY_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

extern const char library_family[]; /* the family that the agent was built for: "openmpi", "mpich", "abi" */

struct library {
    char path[4096];   /* "": unknown */
    bool other_family;     /* of another family than the agent */
    bool loaded_later; /* loaded by dlopen */
};
extern struct library library;

/* Whether the program is linked with an MPI library, so that it cannot use another one. */
bool library_is_linked(void);

/* library_find finds the library; library_bind then binds the functions and constants (handles.h). Once each. */
void library_find(void);
void library_bind(void);

/* A symbol of the library, or of a tool that comes before it. */
void *library_symbol(const char *name);

/* The function that PMPI_X reaches after the agent, or NULL; for the agent's own calls. The name is "MPI_X". */
void *library_function(const char *name);

/* Error codes of the family. */
extern const struct library_errors {
    int argument, other;
} library_errors;

/* Whether MPI_Init or MPI_Init_thread has initialized the library. */
bool library_is_initialized(void);

/* A variable of the library, as all objects see it. */
void *library_datum(const char *name);

/* Whether the library at this path is of the agent's family. If so, library_find chooses it. */
bool library_prefer(const char *path);

/* Whether MPI was initialized by calls that the agent has not seen: a program that passes the library's own handle to
 * dlsym does not find the agent's functions. */
bool library_bypassed(void);

/* ---- addresses ---- */

struct library_range {
    uintptr_t start, size;
};

/* The code of the MPI library and of this agent. Calls from there are not the application's: the library makes the
 * former itself, and the latter are jumps from a function after the agent. The library's size is 0 while unknown, or if
 * it contains its Fortran interface. */
struct library_insides {
    struct library_range library, agent;
} __attribute__((aligned(32)));
extern struct library_insides library_insides;

static inline bool library_calls(const void *address)
{
    return ((uintptr_t)address - library_insides.library.start < library_insides.library.size) |
           ((uintptr_t)address - library_insides.agent.start < library_insides.agent.size);
}

/* Whether an address belongs to the MPI library, one of its parts, or a tool; _known: as far as that was found out. */
bool library_is_inside(const void *address);
bool library_is_inside_known(uintptr_t address);

/* A loaded object's code. */
struct dl_phdr_info;
struct library_range library_code(const struct dl_phdr_info *info);

/* The code of the library's bindings for other languages, through which the application calls MPI. */
enum { LIBRARY_BINDINGS = 8 };
extern struct library_range library_bindings[LIBRARY_BINDINGS]; /* only ever appended to */
extern unsigned library_binding_count;

static inline bool library_is_binding(uintptr_t address)
{
    for (unsigned i = 0, count = __atomic_load_n(&library_binding_count, __ATOMIC_ACQUIRE); i < count; i++)
        if (address - library_bindings[i].start < library_bindings[i].size) return true;
    return false;
}

/* The code of other libraries between the application and MPI: PMPI wrappers, and those that `skip` names. */
enum { LIBRARY_WRAPPERS = 16 };
extern struct library_range library_wrappers[LIBRARY_WRAPPERS]; /* only ever appended to */
extern unsigned library_wrapper_count;

/* Finds them among the loaded objects. function names the functions that are intercepted. */
void library_find_wrappers(const char *(*function)(int number), int count);

/* Whether call sites are not in the code at an address, but in its callers. */
static inline bool library_is_between(uintptr_t address)
{
    for (unsigned i = 0, count = __atomic_load_n(&library_wrapper_count, __ATOMIC_ACQUIRE); i < count; i++)
        if (address - library_wrappers[i].start < library_wrappers[i].size) return true;
    return library_is_binding(address);
}

static inline bool library_has_between(void) { return library_binding_count + library_wrapper_count > 0; }

/* Treats the loaded object of a function tool as part of the library. A tool in the program itself is not. */
void library_add_tool(const void *address);

enum { LIBRARY_TOOLS = 16 };
extern struct library_range library_tools[LIBRARY_TOOLS]; /* only ever appended to */
extern unsigned library_tool_count;

static inline bool library_is_tools(uintptr_t address)
{
    for (unsigned i = 0, count = __atomic_load_n(&library_tool_count, __ATOMIC_ACQUIRE); i < count; i++)
        if (address - library_tools[i].start < library_tools[i].size) return true;
    return false;
}

/* Looks for parts of the library that were loaded since. */
void library_find_parts(void);

/* Whether the function after the agent belongs to another PMPI tool, which may call other MPI functions. If so, its
 * object is treated as part of the library from then on. */
bool library_is_tool(const void *function);

#pragma GCC visibility pop

#endif
