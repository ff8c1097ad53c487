/* library.h: the MPI library of the process, its symbols, and which addresses are its own. Without mpi.h. */
#ifndef MPITX_LIBRARY_H
#define MPITX_LIBRARY_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

extern const char library_family[]; /* what the agent was built for: "openmpi", "mpich", "abi" */

struct library {
    char path[4096];   /* "": unknown */
    bool foreign;      /* it is of another family */
    bool loaded_later; /* it came by dlopen */
};
extern struct library library;

/* Whether a library is there for all, so that no other can come. */
bool library_is_linked(void);

/* Finds the library, once; then its functions and constants for functions.h. */
void library_find(void);
void library_bind(void);

/* A symbol of the library, or of a tool that comes before it. */
void *library_symbol(const char *name);

/* What PMPI_X leads to after us, or NULL: for the agent's own calls. The name is "MPI_X". */
void *library_function(const char *name);

/* The library's data as everybody sees them. */
void *library_datum(const char *name);

/* Whether the library with this PMPI_Init is of our family; then it is the one to find. */
bool library_prefer(const char *path);

/* Whether MPI is initialised by calls that the agent has not seen: a program that takes functions from the library's own handle does
 * not find ours. */
bool library_bypassed(void);

/* ---- addresses ---- */

struct library_range {
    uintptr_t start, size;
};

/* The text of the MPI library and of this agent: calls from there are not the application's. The library's own are; the agent's are
 * calls that something after us has jumped to. The library's size is 0 while unknown, or if its Fortran interface is in it. */
struct library_insides {
    struct library_range library, agent;
} __attribute__((aligned(32)));
extern struct library_insides library_insides;

static inline bool library_calls(const void *address)
{
    return ((uintptr_t)address - library_insides.library.start < library_insides.library.size) |
           ((uintptr_t)address - library_insides.agent.start < library_insides.agent.size);
}

/* Whether an address belongs to the MPI library, one of its parts, or a tool. */
bool library_is_inside(const void *address);

/* Takes a loaded object as inside; for tools. */
void library_add_inside(const void *address);

/* Looks for parts of the library that were loaded since. */
void library_find_parts(void);

/* Whether the function that a call goes on to is another PMPI tool's, which may call others; its object is inside from then on. */
bool library_is_tool(const void *function);

#pragma GCC visibility pop

#endif
