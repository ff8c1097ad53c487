/* library.c: finds the process's MPI library and the addresses of its code. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#include "base/loaded.h"
#include "binding/shim/family.h"
#include "mpi/library.h"

const char library_family[] = FAMILY;
const struct library_errors library_errors = {MPI_ERR_ARG, MPI_ERR_OTHER};
struct library library;
struct library_insides library_insides;

/* ---- ranges: only ever appended to; the count is stored last ---- */

enum { RANGES = 128, OUTSIDES = 32 };
static struct library_range inside[RANGES], outside[OUTSIDES];
static unsigned inside_count, outside_next;

struct library_range library_bindings[LIBRARY_BINDINGS];
unsigned library_binding_count;

static bool within(const struct library_range *range, uintptr_t address)
{
    return address - range->start < range->size;
}

static bool add_inside(struct library_range range)
{
    unsigned count = __atomic_load_n(&inside_count, __ATOMIC_ACQUIRE);
    for (unsigned i = 0; i < count; i++)
        if (inside[i].start == range.start) return true;
    if (count == RANGES) return false;
    inside[count] = range;
    __atomic_store_n(&inside_count, count + 1, __ATOMIC_RELEASE);
    return true;
}

struct library_range library_code(const struct dl_phdr_info *info)
{
    uintptr_t low = UINTPTR_MAX, high = 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type != PT_LOAD || !(part->p_flags & PF_X)) continue;
        uintptr_t start = info->dlpi_addr + part->p_vaddr;
        if (start < low) low = start;
        if (start + part->p_memsz > high) high = start + part->p_memsz;
    }
    return low < high ? (struct library_range){low, high - low} : (struct library_range){0, 0};
}

static bool is_called(const char *path, const char *const *prefixes)
{
    const char *name = strrchr(path, '/');
    name = name ? name + 1 : path;
    for (; *prefixes; prefixes++)
        if (strncmp(name, *prefixes, strlen(*prefixes)) == 0) return true;
    return false;
}

/* Parts of MPI libraries: their plug-ins, and the libraries that they are split into. */
static bool is_part(const char *path)
{
    static const char *const prefixes[] =
        {"mca_", "libopen-pal", "libopen-rte", "libopen_pal", "libopen_rte", "libpmpi.", "libmpl.", "libprrte", NULL};
    return is_called(path, prefixes);
}

/* Fortran and C++ interfaces are not parts: the application calls MPI through them. */
static bool is_interface(const char *path)
{
    static const char *const prefixes[] = {"libmpichf", "libmpifort", "libmpi_mpifh", "libmpi_usempi", "libmpichcxx",
                                           "libmpicxx", "libmpi_cxx", NULL};
    return is_called(path, prefixes);
}

struct search {
    uintptr_t address;
    struct library_range range;
    char path[PATH_MAX];
};

static int find_object(struct dl_phdr_info *info, size_t size, void *argument)
{
    (void)size;
    struct search *search = argument;
    struct library_range range = library_code(info);
    if (!within(&range, search->address)) return 0;
    search->range = range;
    snprintf(search->path, sizeof search->path, "%s", info->dlpi_name ? info->dlpi_name : "");
    return 1;
}

bool library_is_inside_known(uintptr_t address)
{
    unsigned count = __atomic_load_n(&inside_count, __ATOMIC_ACQUIRE);
    for (unsigned i = 0; i < count; i++)
        if (within(&inside[i], address)) return true;
    return false;
}

static struct library_range object_of(const void *address, char *path)
{
    struct search search = {.address = (uintptr_t)address};
    each_loaded(find_object, &search);
    if (path) memcpy(path, search.path, sizeof search.path);
    return search.range;
}

static void add_binding(struct library_range range)
{
    if (library_binding_count == LIBRARY_BINDINGS || library_is_binding(range.start)) return;
    library_bindings[library_binding_count] = range;
    __atomic_store_n(&library_binding_count, library_binding_count + 1, __ATOMIC_RELEASE);
}

static int add_part(struct dl_phdr_info *info, size_t size, void *argument)
{
    (void)size;
    (void)argument;
    if (info->dlpi_name && is_part(info->dlpi_name)) add_inside(library_code(info));
    if (info->dlpi_name && is_interface(info->dlpi_name)) add_binding(library_code(info));
    return 0;
}

void library_find_parts(void) { each_loaded(add_part, NULL); }

struct library_range library_tools[LIBRARY_TOOLS];
unsigned library_tool_count;

void library_add_tool(const void *address)
{
    char path[PATH_MAX] = "";
    struct library_range range = object_of(address, path);
    if (!range.size || !path[0]) return; /* the program's path is "" */
    add_inside(range);
    if (library_tool_count == LIBRARY_TOOLS || library_is_tools(range.start)) return;
    library_tools[library_tool_count] = range;
    __atomic_store_n(&library_tool_count, library_tool_count + 1, __ATOMIC_RELEASE);
}

bool library_is_inside(const void *pointer)
{
    uintptr_t address = (uintptr_t)pointer;
    if (library_is_inside_known(address)) return true;
    for (unsigned i = 0; i < OUTSIDES; i++)
        if (within(&outside[i], address)) return false;
    /* The object may have been loaded since. Code without an object (compiled at run time) is the application's. */
    struct search search = {.address = address, .range = {address & ~(uintptr_t)4095, 4096}};
    each_loaded(find_object, &search);
    if (is_part(search.path) && add_inside(search.range)) return true;
    outside[__atomic_fetch_add(&outside_next, 1, __ATOMIC_RELAXED) % OUTSIDES] = search.range;
    return false;
}

/* ---- the library ---- */

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
    return mpi_is_openmpi(handle) ? "openmpi" : "mpich";
}

/* A library that the program has loaded by dlopen, which RTLD_NEXT does not find. */
static void *loaded_library(void)
{
    static struct candidates candidates;
    candidates.count = 0;
    each_loaded(find_candidate, &candidates);
    void *other = preferred[0] ? dlopen(preferred, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    if (other) return other;
    for (int i = 0; i < candidates.count; i++) {
        void *handle = dlopen(candidates.paths[i], RTLD_LAZY | RTLD_NOLOAD);
        if (!handle) continue;
        if (dlsym(handle, "PMPI_Init")) {
            if (strcmp(family_of(handle, candidates.paths[i]), library_family) == 0) return handle;
            if (!other) other = handle;
        }
    }
    return other;
}

bool library_bypassed(void)
{
    int initialized = 0;
    void *handle = loaded_library();
    if (!handle) return false;
    int (*ask)(int *) = (int (*)(int *))dlsym(handle, "PMPI_Initialized");
    if (ask) ask(&initialized);
    dlclose(handle);
    return initialized;
}

bool library_prefer(const char *path)
{
    void *handle = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
    bool fits = handle && strcmp(family_of(handle, path), library_family) == 0;
    if (handle) dlclose(handle);
    if (fits) snprintf(preferred, sizeof preferred, "%s", path);
    return fits;
}

/* ---- symbols ---- */

static void *library_handle;

void *library_symbol(const char *name) { return dlsym(library_handle, name); }

void *library_function(const char *name) { return mpi_routine(library_handle, name); }

void *library_datum(const char *name) { return mpi_datum(library_handle, name); }

bool library_is_linked(void) { return dlsym(RTLD_NEXT, "PMPI_Init") != NULL; }

static struct library_range text; /* the library's */

bool library_is_tool(const void *function)
{
    static struct library_range last;
    static bool tool;
    if (!text.size || within(&text, (uintptr_t)function)) return false;
    if (within(&last, (uintptr_t)function)) return tool;
    static char path[PATH_MAX];
    last = object_of(function, path);
    tool = last.size && !is_interface(path) && !is_part(path) && !strstr(path, "libmpi");
    if (last.size && !is_interface(path)) add_inside(last); /* MPICH's Fortran interface has functions of its own */
    return tool;
}

void library_find(void)
{
    library_handle = RTLD_NEXT;
    if (preferred[0] || !library_is_linked()) {
        void *handle = loaded_library();
        if (handle) library_handle = handle;
        library.loaded_later = true;
    }
    text = object_of(library_function("MPI_Comm_rank"), library.path);
    library_insides.agent = object_of((void *)library_find, NULL);
    add_inside(library_insides.agent);
    if (text.size) {
        add_inside(text);
        void *fortran = dlsym(library_handle, "mpi_init_");
        if (!fortran || !within(&text, (uintptr_t)fortran))
            library_insides.library = text;
        else
            add_binding(text);
        library_find_parts();
    }
    library.other_family = strcmp(family_of(library_handle, library.path), library_family) != 0;
}
