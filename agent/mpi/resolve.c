/* resolve.c: where the application's calls go on to, and which addresses are the MPI library's own. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#include "life/life.h"
#include "chain/internal.h"
#include "mpi/describe_state.h"

struct chain_insides chain_insides;
bool chain_resolved;

/* What a function answers that the library does not have: nobody who links to it can call it. */
int chain_missing(void)
{
    return 16; /* MPI_ERR_OTHER or MPI_ERR_UNKNOWN, an error in any case */
}

/* ---- ranges: only ever appended to; the count is stored last ---- */

enum { RANGES = 128, OUTSIDES = 32 };
static struct chain_range inside[RANGES], outside[OUTSIDES];
static unsigned inside_count, outside_next;

static bool within(const struct chain_range *range, uintptr_t address)
{
    return address - range->start < range->size;
}

static bool add_inside(struct chain_range range)
{
    unsigned count = __atomic_load_n(&inside_count, __ATOMIC_ACQUIRE);
    for (unsigned i = 0; i < count; i++)
        if (inside[i].start == range.start) return true;
    if (count == RANGES) return false;
    inside[count] = range;
    __atomic_store_n(&inside_count, count + 1, __ATOMIC_RELEASE);
    return true;
}

/* A loaded object's code. */
static struct chain_range code_of(const struct dl_phdr_info *info)
{
    uintptr_t low = UINTPTR_MAX, high = 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type != PT_LOAD || !(part->p_flags & PF_X)) continue;
        uintptr_t start = info->dlpi_addr + part->p_vaddr;
        if (start < low) low = start;
        if (start + part->p_memsz > high) high = start + part->p_memsz;
    }
    return low < high ? (struct chain_range){low, high - low} : (struct chain_range){0, 0};
}

static bool is_called(const char *path, const char *const *prefixes)
{
    const char *name = strrchr(path, '/');
    name = name ? name + 1 : path;
    for (; *prefixes; prefixes++)
        if (strncmp(name, *prefixes, strlen(*prefixes)) == 0) return true;
    return false;
}

/* Parts of MPI libraries: what they load as plug-ins, and what they are split into. */
static bool is_part(const char *path)
{
    static const char *const prefixes[] = {"mca_", "libopen-pal", "libopen-rte", "libopen_pal", "libopen_rte", "libpmpi.", "libmpl.", "libprrte", NULL};
    return is_called(path, prefixes);
}

/* Their Fortran and C++ interfaces are none: the application calls through those. */
static bool is_interface(const char *path)
{
    static const char *const prefixes[] = {"libmpichfort", "libmpifort", "libmpi_mpifh", "libmpi_usempi", "libmpichcxx", "libmpicxx", "libmpi_cxx", NULL};
    return is_called(path, prefixes);
}

struct search {
    uintptr_t address;
    struct chain_range range;
    char path[PATH_MAX];
};

static int find_object(struct dl_phdr_info *info, size_t size, void *argument)
{
    (void)size;
    struct search *search = argument;
    struct chain_range range = code_of(info);
    if (!within(&range, search->address)) return 0;
    search->range = range;
    snprintf(search->path, sizeof search->path, "%s", info->dlpi_name ? info->dlpi_name : "");
    return 1;
}

static struct chain_range object_of(const void *address, char *path)
{
    struct search search = {.address = (uintptr_t)address};
    dl_iterate_phdr(find_object, &search);
    if (path) memcpy(path, search.path, sizeof search.path);
    return search.range;
}

static int add_part(struct dl_phdr_info *info, size_t size, void *argument)
{
    (void)size;
    (void)argument;
    if (info->dlpi_name && is_part(info->dlpi_name)) add_inside(code_of(info));
    return 0;
}

void chain_find_parts(void)
{
    dl_iterate_phdr(add_part, NULL);
}

void chain_add_inside(const void *address)
{
    struct chain_range range = object_of(address, NULL);
    if (range.size) add_inside(range);
}

bool chain_is_inside(const void *pointer)
{
    uintptr_t address = (uintptr_t)pointer;
    unsigned count = __atomic_load_n(&inside_count, __ATOMIC_ACQUIRE);
    for (unsigned i = 0; i < count; i++)
        if (within(&inside[i], address)) return true;
    for (unsigned i = 0; i < OUTSIDES; i++)
        if (within(&outside[i], address)) return false;
    /* An object that was loaded since; code without an object (compiled at run time) counts as the application's. */
    struct search search = {.address = address, .range = {address & ~(uintptr_t)4095, 4096}};
    dl_iterate_phdr(find_object, &search);
    if (is_part(search.path) && add_inside(search.range)) return true;
    outside[__atomic_fetch_add(&outside_next, 1, __ATOMIC_RELAXED) % OUTSIDES] = search.range;
    return false;
}

/* ---- next symbols ---- */

enum { CANDIDATES = 16 };
struct candidates {
    int count;
    char paths[CANDIDATES][512];
};

static int find_candidate(struct dl_phdr_info *info, size_t size, void *argument)
{
    (void)size;
    struct candidates *candidates = argument;
    const char *path = info->dlpi_name ? info->dlpi_name : "", *name = strrchr(path, '/');
    name = name ? name + 1 : path;
    if (strncmp(name, "libmpi", 6) == 0 && candidates->count < CANDIDATES && strlen(path) < sizeof candidates->paths[0])
        strcpy(candidates->paths[candidates->count++], path);
    return 0;
}

static char preferred[512]; /* the library of the first caller */

static const char *family_of(void *handle, const char *path)
{
    if (strstr(path, "libmpi_abi")) return "abi";
    return dlsym(handle, "ompi_mpi_comm_world") ? "openmpi" : "mpich";
}

/* The library that a program has loaded by dlopen: it is in no scope that RTLD_NEXT searches. */
static void *loaded_library(void)
{
    static struct candidates candidates;
    candidates.count = 0;
    dl_iterate_phdr(find_candidate, &candidates);
    void *other = preferred[0] ? dlopen(preferred, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    if (other) return other;
    for (int i = 0; i < candidates.count; i++) {
        void *handle = dlopen(candidates.paths[i], RTLD_LAZY | RTLD_NOLOAD);
        if (!handle) continue;
        if (dlsym(handle, "PMPI_Init")) {
            if (strcmp(family_of(handle, candidates.paths[i]), chain_family) == 0) return handle;
            if (!other) other = handle;
        }
    }
    return other;
}

/* A program that takes functions from the library's own handle does not find ours. */
bool chain_bypassed(void)
{
    int initialized = 0;
    void *handle = loaded_library();
    if (!handle) return false;
    int (*ask)(int *) = (int (*)(int *))dlsym(handle, "PMPI_Initialized");
    if (ask) ask(&initialized);
    dlclose(handle);
    return initialized;
}

bool chain_follows(void *init, const char *path)
{
    if (chain_resolved) return init == (void *)chain_next_shifted[chain_function_id("MPI_Init")];
    void *handle = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
    bool fits = handle && strcmp(family_of(handle, path), chain_family) == 0;
    if (handle) dlclose(handle);
    if (fits) snprintf(preferred, sizeof preferred, "%s", path);
    return fits;
}

static void *library_handle;
static bool foreign; /* another family's library */

void *chain_next_symbol(const char *name)
{
    return dlsym(library_handle, name);
}

/* The library's data as everybody sees them: an executable that names them has them itself (copy relocation), and the
 * library's own place is then unused. */
static void *find_data(const char *symbol)
{
    void *data = dlsym(RTLD_DEFAULT, symbol);
    return data ? data : dlsym(library_handle, symbol);
}

/* Marks what lies behind us: the library, and PMPI tools, whose calls are not the application's. */
static void classify(void)
{
    int rank = chain_function_id("MPI_Comm_rank");
    static char path[PATH_MAX];
    struct chain_range library = object_of((void *)chain_next_shifted[rank], path), last = library;
    static char name[PATH_MAX];
    snprintf(name, sizeof name, "%s", path);
    agent_process.library = name;
    chain_insides.agent = object_of((void *)classify, NULL);
    add_inside(chain_insides.agent);
    if (!library.size) return;
    add_inside(library);
    void *fortran = dlsym(library_handle, "mpi_init_");
    if (!fortran || !within(&library, (uintptr_t)fortran)) chain_insides.library = library;
    for (int i = 0; i < chain_function_count; i++) {
        uintptr_t next = (uintptr_t)chain_next[i];
        if (chain_next[i] == (chain_any_function *)chain_missing || within(&library, next)) continue;
        if (!within(&last, next)) last = object_of((void *)next, path);
        if (!last.size || is_interface(path)) continue; /* MPICH's Fortran interface has some functions of its own */
        add_inside(last);
        chain_foreign[i] = !is_part(path) && !strstr(path, "libmpi");
    }
    chain_find_parts();
}

void chain_resolve(void)
{
    if (chain_resolved) return;
    void *handle = RTLD_NEXT;
    if (preferred[0] || !dlsym(handle, "PMPI_Init")) {
        handle = loaded_library();
        if (!handle) handle = RTLD_NEXT;
        agent_process.loaded_later = true;
    }
    library_handle = handle;
    for (int i = 0; i < chain_function_count; i++) {
        char name[64] = "P";
        snprintf(name + 1, sizeof name - 1, "%s", chain_functions[i].name);
        void *next = dlsym(handle, name + 1), *shifted = dlsym(handle, name);
        if (!next) next = shifted;
        if (!shifted) shifted = next;
        if (!next) next = shifted = (void *)chain_missing;
        chain_next[i] = (chain_any_function *)next;
        chain_next_shifted[i] = (chain_any_function *)shifted;
    }
    classify();
    const char *family = family_of(handle, agent_process.library);
    chain_resolved = true;
    foreign = strcmp(family, chain_family) != 0;
    if (foreign) agent_foreign_family(agent_process.library);
    describe_start(find_data);
    chain_set_flags();
    dlerror();
}

/* In the constructor: if no library is there for all, several can come. */
void chain_watch_libraries(void)
{
    if (!dlsym(RTLD_NEXT, "PMPI_Init")) chain_open_doors();
    dlerror();
}

/* In the constructor: only where MPI is there already. Constructors of others may have called MPI before. */
void chain_resolve_early(void)
{
    if (!chain_resolved && dlsym(RTLD_NEXT, "PMPI_Init")) {
        chain_resolve();
    } else if (chain_resolved) {
        if (foreign) agent_foreign_family(agent_process.library);
        chain_set_flags();
    }
    dlerror(); /* what we looked for in vain is nobody's error */
}
