/* references.c: the loaded objects, and their references to symbols. */
#define _GNU_SOURCE
#include "base/references.h"

#include <dlfcn.h>
#include <elf.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cancel.h"
#include "base/loaded.h"

enum { OBJECTS = 1024 };

#if defined(__x86_64__) && defined(__LP64__)
enum { SLOT = R_X86_64_JUMP_SLOT, ADDRESS = R_X86_64_GLOB_DAT, WORD = R_X86_64_64 };
#elif defined(__aarch64__)
enum { SLOT = R_AARCH64_JUMP_SLOT, ADDRESS = R_AARCH64_GLOB_DAT, WORD = R_AARCH64_ABS64 };
#else
enum { SLOT = -1, ADDRESS = -1, WORD = -1 };
#endif

/* ---- objects ---- */

static struct object objects[OBJECTS];
static int object_count;

static int list(struct dl_phdr_info *info, size_t size, void *argument)
{
    (void)size;
    (void)argument;
    struct object *object = &objects[object_count];
    if (object_count == OBJECTS || !info->dlpi_name || !info->dlpi_name[0] ||
        strlen(info->dlpi_name) >= sizeof object->path)
        return 0;
    strcpy(object->path, info->dlpi_name);
    object->base = info->dlpi_addr;
    object->parts = info->dlpi_phdr;
    object->part_count = info->dlpi_phnum;
    object_count++;
    return 0;
}

void objects_each(void (*visit)(const struct object *object, void *argument), void *argument)
{
    object_count = 0;
    each_loaded(list, NULL); /* the callback must not load objects */
    for (int i = 0; i < object_count; i++) visit(&objects[i], argument);
}

static int count_loaded(struct dl_phdr_info *info, size_t size, void *argument)
{
    (void)size;
    *(uint64_t *)argument = info->dlpi_adds;
    return 1;
}

uint64_t objects_loaded(void)
{
    uint64_t count = 0;
    each_loaded(count_loaded, &count);
    return count;
}

void *object_open(const char *path) { return path[0] ? dlopen(path, RTLD_LAZY | RTLD_NOLOAD) : NULL; }

void *object_find(void *handle, const char *name)
{
    void *own = dlsym(handle, name);
    return own ? own : dlsym(RTLD_NEXT, name);
}

bool object_is_agent(uintptr_t address)
{
    extern const char __ehdr_start[] __attribute__((visibility("hidden"))),
        _end[] __attribute__((visibility("hidden")));
    return address >= (uintptr_t)__ehdr_start && address < (uintptr_t)_end;
}

/* ---- references ---- */

static const void *pointer(const struct object *object, ElfW(Addr) value)
{
    return (const void *)(value >= object->base ? value : object->base + value);
}

static void set(const struct object *object, uintptr_t *place, uintptr_t value)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), start = (uintptr_t)place & ~(page - 1);
    bool protected = false;
    for (int i = 0; i < object->part_count; i++) {
        const ElfW(Phdr) *part = &object->parts[i];
        protected = protected ||
                    (part->p_type == PT_GNU_RELRO && (uintptr_t)place - (object->base + part->p_vaddr) < part->p_memsz);
    }
    if (protected && mprotect((void *)start, page, PROT_READ | PROT_WRITE) != 0) return;
    __atomic_store_n(place, value, __ATOMIC_RELEASE);
    if (protected) mprotect((void *)start, page, PROT_READ);
}

struct relocations {
    const ElfW(Rela) *first;
    size_t bytes;
};

void references_change(const struct object *object,
                       uintptr_t (*choose)(void *argument, const char *name, enum reference_kind kind,
                                           const uintptr_t *place),
                       void *argument)
{
    const ElfW(Dyn) *entry = NULL;
    struct relocations parts[2] = {{NULL, 0}, {NULL, 0}};
    const ElfW(Sym) *symbols = NULL;
    const char *names = NULL;
    for (int i = 0; i < object->part_count; i++)
        if (object->parts[i].p_type == PT_DYNAMIC) entry = (const ElfW(Dyn) *)(object->base + object->parts[i].p_vaddr);
    for (; entry && entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag == DT_RELA) parts[0].first = pointer(object, entry->d_un.d_ptr);
        if (entry->d_tag == DT_RELASZ) parts[0].bytes = entry->d_un.d_val;
        if (entry->d_tag == DT_JMPREL) parts[1].first = pointer(object, entry->d_un.d_ptr);
        if (entry->d_tag == DT_PLTRELSZ) parts[1].bytes = entry->d_un.d_val;
        if (entry->d_tag == DT_SYMTAB) symbols = pointer(object, entry->d_un.d_ptr);
        if (entry->d_tag == DT_STRTAB) names = pointer(object, entry->d_un.d_ptr);
    }
    if (!symbols || !names) return;
    for (int i = 0; i < 2; i++) {
        const ElfW(Rela) *rela = parts[i].first;
        for (const ElfW(Rela) *end = rela + parts[i].bytes / sizeof *rela; rela && rela < end; rela++) {
            int type = (int)ELF64_R_TYPE(rela->r_info);
            if (type != SLOT && type != ADDRESS && (type != WORD || rela->r_addend != 0)) continue;
            uintptr_t *place = (uintptr_t *)(object->base + rela->r_offset);
            uintptr_t value = choose(argument, names + symbols[ELF64_R_SYM(rela->r_info)].st_name,
                                     type == SLOT ? REFERENCE_CALL : REFERENCE_ADDRESS, place);
            if (value) set(object, place, value);
        }
    }
}

/* ---- following functions of libraries ---- */

static bool is_in(const struct object *object, uintptr_t address)
{
    for (int i = 0; i < object->part_count; i++) {
        const ElfW(Phdr) *part = &object->parts[i];
        if (part->p_type == PT_LOAD && address - (object->base + part->p_vaddr) < part->p_memsz) return true;
    }
    return false;
}

/* The slot of a call that was not used yet points into its object, as it does if the function is there. */
uintptr_t reference_target(const struct search *search, const char *name, enum reference_kind kind,
                           const uintptr_t *place)
{
    if (*place && (kind != REFERENCE_CALL || !is_in(search->object, *place))) return *place;
    void *global = dlsym(RTLD_DEFAULT, name);
    return (uintptr_t)(global ? global : object_find(search->handle, name));
}

struct follow {
    bool (*part)(const char *path);
    uintptr_t (*choose)(void *search, const char *name, enum reference_kind kind, const uintptr_t *place);
};

static void follow_object(const struct object *object, void *argument)
{
    const struct follow *follow = argument;
    if (!follow->part(object->path)) return;
    struct search search = {object, object_open(object->path)};
    if (!search.handle) return;
    references_change(object, follow->choose, &search);
    dlclose(search.handle);
}

void references_follow(uint64_t *searched, bool (*part)(const char *path),
                       uintptr_t (*choose)(void *search, const char *name, enum reference_kind kind,
                                           const uintptr_t *place))
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    struct follow follow = {part, choose};
    struct hold hold = hold_lock(&lock);
    if (objects_loaded() != *searched) objects_each(follow_object, &follow);
    *searched = objects_loaded();
    hold_unlock(&lock, hold);
}
