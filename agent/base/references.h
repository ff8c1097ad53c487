/* references.h: the loaded objects, and their references to symbols, which can be changed. */
#ifndef MPITX_REFERENCES_H
#define MPITX_REFERENCES_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

struct object {
    char path[512];
    uintptr_t base;
    const ElfW(Phdr) *parts;
    int part_count;
};

/* Calls visit for each loaded object that has a path. visit may load objects, and may not call objects_each. Not from
 * two threads at once. */
void objects_each(void (*visit)(const struct object *object, void *argument), void *argument);

/* A number that changes when objects are loaded. */
uint64_t objects_loaded(void);

/* A handle of the object for dlsym, to be closed; NULL: it is not loaded. */
void *object_open(const char *path);

/* The symbol that an object would find without the agent: in its own libraries, else in the global scope. Open MPI's
 * MPI_Init adds its library to the global scope, and its plug-ins rely on that. */
void *object_find(void *handle, const char *name);

/* Whether an address is in the agent. */
bool object_is_agent(uintptr_t address);

enum reference_kind {
    REFERENCE_CALL,   /* the slot of a call; before its first use, it may point into the object */
    REFERENCE_ADDRESS /* the address itself */
};

/* Calls choose for each reference of an object: name is the symbol's, *place is what it refers to now. If the answer is
 * not 0, the reference is set to it. Does nothing on processors that the agent has no stubs for. */
void references_change(const struct object *object,
                       uintptr_t (*choose)(void *argument, const char *name, enum reference_kind kind,
                                           const uintptr_t *place),
                       void *argument);

/* ---- following functions of libraries ---- */

/* An object whose references are searched, and its handle for dlsym. */
struct search {
    const struct object *object;
    void *handle;
};

/* What a reference means without the agent, also before its first use; 0: nothing. */
uintptr_t reference_target(const struct search *search, const char *name, enum reference_kind kind,
                           const uintptr_t *place);

/* references_change for each loaded object whose path `part` accepts; choose gets a struct search. Only if objects were
 * loaded since *searched, which is 0 at first and belongs to the caller. Threads wait for each other. */
void references_follow(uint64_t *searched, bool (*part)(const char *path),
                       uintptr_t (*choose)(void *search, const char *name, enum reference_kind kind,
                                           const uintptr_t *place));

#pragma GCC visibility pop

#endif
