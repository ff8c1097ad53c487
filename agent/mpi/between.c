/* between.c: libraries between the application and MPI: PMPI wrappers, which export functions of MPI, and those that the
 * user names. Call sites are in what calls them.
 *
 * A name is looked up in an object's own GNU hash table, as the loader does: its filter rejects nearly all at once. */
#define _GNU_SOURCE
#include <limits.h>
#include <string.h>

#include "base/agent.h"
#include "base/loaded.h"
#include "mpi/library.h"

struct library_range library_wrappers[LIBRARY_WRAPPERS];
unsigned library_wrapper_count;

struct symbols {
    const uint32_t *hash;
    const ElfW(Sym) *table;
    const char *names;
};

/* An address of the dynamic section. Some loaders leave it relative to the object. */
static const void *address_in(const struct dl_phdr_info *info, ElfW(Addr) address)
{
    return (const void *)(address < info->dlpi_addr ? address + info->dlpi_addr : address);
}

static bool symbols_of(const struct dl_phdr_info *info, struct symbols *symbols)
{
    const ElfW(Dyn) *entry = NULL;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
            entry = (const ElfW(Dyn) *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    *symbols = (struct symbols){NULL, NULL, NULL};
    for (; entry && entry->d_tag != DT_NULL; entry++) {
        const void *at = address_in(info, entry->d_un.d_ptr);
        if (entry->d_tag == DT_GNU_HASH) symbols->hash = at;
        if (entry->d_tag == DT_SYMTAB) symbols->table = at;
        if (entry->d_tag == DT_STRTAB) symbols->names = at;
    }
    return symbols->hash && symbols->table && symbols->names;
}

static bool exports(const struct symbols *symbols, const char *name)
{
    enum { BITS = 8 * sizeof(ElfW(Addr)) };
    uint32_t hash = 5381;
    for (const char *c = name; *c; c++) hash = hash * 33 + (unsigned char)*c;
    uint32_t buckets = symbols->hash[0], first = symbols->hash[1], words = symbols->hash[2], shift = symbols->hash[3];
    const ElfW(Addr) *filter = (const ElfW(Addr) *)(symbols->hash + 4);
    const uint32_t *bucket = (const uint32_t *)(filter + words), *chain = bucket + buckets;
    if (buckets == 0 || words == 0) return false;
    ElfW(Addr) word = filter[hash / BITS % words];
    if (!(word >> (hash % BITS) & word >> ((hash >> shift) % BITS) & 1)) return false;
    for (uint32_t i = bucket[hash % buckets]; i >= first && i != 0; i++) {
        uint32_t entry = chain[i - first];
        const ElfW(Sym) *symbol = &symbols->table[i];
        if ((entry | 1) == (hash | 1) && strcmp(symbols->names + symbol->st_name, name) == 0)
            return symbol->st_shndx != SHN_UNDEF && symbol->st_value != 0;
        if (entry & 1) break;
    }
    return false;
}

struct search {
    const char *(*function)(int number);
    int count;
};

/* An MPI library, too, exports MPI functions, but also PMPI_Init. */
static bool is_wrapper(const struct dl_phdr_info *info, const struct search *search)
{
    struct symbols symbols;
    if (!symbols_of(info, &symbols) || exports(&symbols, "PMPI_Init")) return false;
    for (int i = 0; i < search->count; i++)
        if (exports(&symbols, search->function(i))) return true;
    return false;
}

static int add_between(struct dl_phdr_info *info, size_t size, void *argument)
{
    (void)size;
    const char *path = info->dlpi_name ? info->dlpi_name : "", *name = strrchr(path, '/');
    name = name ? name + 1 : path;
    if (!*name || library_wrapper_count == LIBRARY_WRAPPERS) return 0; /* the program's is "" */
    struct library_range range = library_code(info);
    if (!range.size || library_is_inside_known(range.start) || library_is_between(range.start)) return 0;
    if (!agent_config_matches("skip", name) && !is_wrapper(info, argument)) return 0;
    library_wrappers[library_wrapper_count] = range;
    __atomic_store_n(&library_wrapper_count, library_wrapper_count + 1, __ATOMIC_RELEASE);
    return 0;
}

void library_find_wrappers(const char *(*function)(int number), int count)
{
    struct search search = {function, count};
    each_loaded(add_between, &search);
}
