#define _GNU_SOURCE
/* callers.c: goes from a call to the functions that it came from, by the unwind tables of the library.
 *
 * What the tables say about a return address never changes: where the caller's frame is, so where the next return
 * address is. So each step is computed once, and later ones only look it up. The result is as exact as the tables.
 *
 * If all frames have a known size, a thread remembers the path: the return addresses and their places. Another call
 * took the same path if its first return address is the same, so that the place of the second one is the same, and so
 * on. */
#include "tools/algorithms/callers.h"

#include <stdio.h>
#include <string.h>

#include "base/agent.h"
#include "base/cancel.h"
#include "base/references.h"
#include "chain/cfi.h"
#include "mpi/library.h"
#include "run/process.h"

enum { STEPS = 4096, DEEP = 32, FIRST = 1, PATH_BITS = 4, PATH_MOST = 16 };

static struct library_range code;
static uintptr_t base_of_code;
static char build[2 * 32 + 1];

/* A chain is another one and the function that called it. FIRST has none: the innermost function is left out. */
static struct chain {
    unsigned inner;
    uint32_t function; /* its offset */
} chains[CALLERS_CHAINS];
static unsigned chain_count = FIRST + 1;

/* From a chain to its caller; entries are never removed. */
static struct step {
    uintptr_t address; /* the return address; 0: the entry is free. Stored last */
    unsigned chain, next; /* next: 0: not known */
    struct cfi_step frame;
} steps[STEPS];
static unsigned step_count;

static struct step *find_step(unsigned chain, uintptr_t address)
{
    uint64_t hash = (address ^ (uint64_t)chain << 48) * UINT64_C(0x9e3779b97f4a7c15) >> 32;
    for (;; hash++) {
        struct step *step = &steps[hash % STEPS];
        uintptr_t has = __atomic_load_n(&step->address, __ATOMIC_ACQUIRE);
        if (!has || (has == address && step->chain == chain)) return step;
    }
}

static unsigned find_chain(unsigned inner, uint64_t function)
{
    uint32_t offset = (uint32_t)(function - base_of_code);
    if (inner == 0) return FIRST;
    for (unsigned i = FIRST + 1; i < chain_count; i++)
        if (chains[i].inner == inner && chains[i].function == offset) return i;
    if (chain_count == CALLERS_CHAINS) return 0;
    chains[chain_count] = (struct chain){inner, offset};
    return chain_count++;
}

static __attribute__((noinline)) void learn(unsigned chain, uintptr_t address)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    struct hold hold = hold_lock(&lock);
    struct step *step = find_step(chain, address);
    if (!step->address && step_count < STEPS / 2) {
        step->chain = chain;
        step->next = cfi_step(address, &step->frame) ? find_chain(chain, step->frame.function) : 0;
        step_count++;
        __atomic_store_n(&step->address, address, __ATOMIC_RELEASE);
    }
    hold_unlock(&lock, hold);
}

struct path {
    unsigned chain, count;
    struct {
        uintptr_t place, address; /* place: after the first return address, in bytes */
    } returns[PATH_MOST];
};
static AGENT_THREAD struct path paths[1 << PATH_BITS];

/* A place is only looked at if all before it are as remembered. */
static inline bool took(const struct path *path, const uintptr_t *frame)
{
    for (unsigned i = 0; i < path->count; i++)
        if (*(const uintptr_t *)((uintptr_t)frame + path->returns[i].place) != path->returns[i].address) return false;
    return path->count > 0;
}

/* The chain; 0: not known. Remembers the path. */
static __attribute__((noinline)) unsigned walk(const uintptr_t *frame, uintptr_t base, struct path *path)
{
    const uintptr_t *start = frame;
    bool based = true, fixed = true;
    unsigned chain = 0;
    path->count = 0;
    for (unsigned i = 0; i < DEEP; i++) {
        uintptr_t address = frame[-1];
        if (i < PATH_MOST) {
            path->returns[i].place = (uintptr_t)(frame - 1) - (uintptr_t)start;
            path->returns[i].address = address;
        }
        if (address - code.start >= code.size) {
            path->chain = chain;
            if (fixed && i < PATH_MOST) path->count = i + 1;
            return chain;
        }
        struct step *step = find_step(chain, address);
        if (!step->address) {
            learn(chain, address);
            step = find_step(chain, address);
        }
        if (!step->address || !step->next || (step->frame.based && !based)) return 0;
        uintptr_t from = step->frame.based ? base : (uintptr_t)frame;
        const uintptr_t *next = (const uintptr_t *)(from + (uintptr_t)step->frame.offset);
        if (next <= frame) return 0;
        if (step->frame.saved) base = *(const uintptr_t *)((uintptr_t)next + (uintptr_t)step->frame.saved);
        based = step->frame.saved || (based && !step->frame.base_lost);
        fixed = fixed && !step->frame.based;
        frame = next;
        chain = step->next;
    }
    return 0;
}

unsigned callers_find(const uintptr_t *frame, uintptr_t base)
{
    uint64_t hash = (frame[-1] + (uintptr_t)frame) * UINT64_C(0x9e3779b97f4a7c15);
    struct path *path = &paths[hash >> (64 - PATH_BITS)];
    return took(path, frame) ? path->chain : walk(frame, base, path);
}

size_t callers_write(char *text, size_t room, unsigned chain)
{
    size_t length = 0;
    for (; chain > FIRST && length < room; chain = chains[chain].inner)
        length += (size_t)snprintf(text + length, room - length, "%s%x", length ? "/" : "", chains[chain].function);
    return length < room ? length : room;
}

const char *callers_build(void) { return build; }

/* ---- the library ---- */

static void visit(const struct object *object, void *argument)
{
    (void)argument;
    if (strcmp(object->path, library.path) != 0) return;
    struct dl_phdr_info info = {.dlpi_addr = object->base, .dlpi_phdr = object->parts, .dlpi_phnum = (ElfW(Half))object->part_count};
    uint32_t bytes = 0;
    const uint8_t *id = mpitx_run_build_id(&info, &bytes);
    for (uint32_t i = 0; i < bytes && i < sizeof build / 2; i++) snprintf(build + 2 * i, 3, "%02x", id[i]);
    code = library_code(&info);
    base_of_code = object->base;
}

const char *callers_start(void)
{
#if !defined(__x86_64__)
    return "mpitx cannot see them on this kind of processor";
#endif
    objects_each(visit, NULL);
    if (!code.size) return "the MPI library was not found among the loaded objects";
    if (!build[0]) return "the MPI library hides the functions that serve collective calls, and has no build ID";
    if (!cfi_start()) return "the MPI library hides the functions that serve collective calls, and libgcc_s.so.1, which finds them, is missing";
    return NULL;
}
