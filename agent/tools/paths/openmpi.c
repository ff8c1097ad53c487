/* openmpi.c: reads Open MPI's tables: which PML was chosen, and the BTL components of each process.
 *
 * Open MPI's own functions only print this. Each object of the tables begins with the address of its class. Classes are
 * exported, and have the size of their objects. So each step is checked, and a layout that does not fit is "unknown". A
 * system call reads the memory: it fails where no memory is. Seen in 4.1.4, 5.0.7 and 6.0.0: opal/class/opal_object.h,
 * opal_list.h, opal/util/proc.h, ompi/mca/bml/bml.h, opal/mca/btl/btl.h, opal/mca/mca.h. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/references.h"
#include "mpi/library.h"
#include "tools/paths/paths.h"

enum { PROCS = 1 << 20, OBJECT_MOST = 4096, MODULES = 64 };

static bool read_memory(uintptr_t from, void *to, size_t bytes)
{
    struct iovec local = {to, bytes}, remote = {(void *)from, bytes};
    return from && syscall(SYS_process_vm_readv, getpid(), &local, 1, &remote, 1, 0) == (ssize_t)bytes;
}

static uintptr_t word_at(uintptr_t from)
{
    uintptr_t word;
    return read_memory(from, &word, sizeof word) ? word : 0;
}

/* ---- classes ---- */

/* opal_class_t */
struct class {
    uintptr_t name, parent, construct, destruct;
    int initialized, depth;
    uintptr_t constructs, destructs;
    size_t size;
};

struct known {
    uintptr_t address;
    size_t size; /* of an object */
};

/* A class, if it looks like one. */
static bool find_class(void *handle, const char *symbol, const char *name, struct known *found)
{
    struct class class;
    char has[64] = {0};
    found->address = (uintptr_t)dlsym(handle, symbol);
    if (!found->address || !read_memory(found->address, &class, sizeof class) || class.size > OBJECT_MOST) return false;
    if (!read_memory(class.name, has, strlen(name) + 1) || strcmp(has, name) != 0) return false;
    found->size = class.size;
    return class.size >= 2 * sizeof(uintptr_t);
}

static struct layout {
    struct known object, item, proc, endpoint, array;
    uintptr_t list, own; /* ompi_proc_list, and this process's own entry */
} layout;

static bool find_layout(void *handle)
{
    uintptr_t own = (uintptr_t)dlsym(handle, "ompi_proc_local_proc");
    layout.list = (uintptr_t)dlsym(handle, "ompi_proc_list");
    layout.own = own ? word_at(own) : 0;
    return layout.list && layout.own && find_class(handle, "opal_object_t_class", "opal_object_t", &layout.object) &&
           find_class(handle, "opal_list_item_t_class", "opal_list_item_t", &layout.item) &&
           find_class(handle, "ompi_proc_t_class", "ompi_proc_t", &layout.proc) &&
           find_class(handle, "mca_bml_base_endpoint_t_class", "mca_bml_base_endpoint_t", &layout.endpoint) &&
           find_class(handle, "mca_bml_base_btl_array_t_class", "mca_bml_base_btl_array_t", &layout.array);
}

/* The class is the object's first word. In debug builds, objects are larger, and it is the second. */
static bool is_a(uintptr_t object, const struct known *class)
{
    bool debug = layout.object.size > 2 * sizeof(uintptr_t);
    return object % sizeof(uintptr_t) == 0 && word_at(object + debug * sizeof(uintptr_t)) == class->address;
}

/* ---- components ---- */

/* The start of mca_base_component_t */
struct component {
    int32_t versions[3];
    char project[16];
    int32_t project_versions[3];
    char type[32];
    int32_t type_versions[3];
    char name[64];
};

static bool component_at(uintptr_t address, const char *type, struct component *component)
{
    return read_memory(address, component, sizeof *component) && strncmp(component->type, type, sizeof component->type) == 0 &&
           memchr(component->name, 0, sizeof component->name) && component->name[0];
}

/* ---- BTL components of a process ---- */

/* mca_bml_base_btl_t, and the start of mca_btl_base_module_t */
struct bml_btl {
    uint32_t flags;
    float weight;
    uintptr_t module, endpoint;
};
struct module {
    uintptr_t component;
    size_t eager_limit, rndv_eager_limit, max_send_size;
};

/* The array: its size, reserve and index, and the address of its elements. */
static void write_array(uintptr_t array, const char *kind, int32_t rank)
{
    uintptr_t words[4];
    if (!read_memory(array + layout.object.size, words, sizeof words) || words[0] > MODULES || words[0] > words[1]) return;
    for (size_t i = 0; i < words[0]; i++) {
        struct bml_btl btl;
        struct module module;
        struct component component;
        if (!read_memory(words[3] + i * sizeof btl, &btl, sizeof btl) || !read_memory(btl.module, &module, sizeof module) ||
            !component_at(module.component, "btl", &component))
            return;
        paths_add(&(struct paths_seen){.kind = kind, .name = component.name, .rank = rank, .id = btl.module, .count = 1, .code = module.eager_limit});
    }
}

static void write_endpoint(uintptr_t endpoint, int32_t rank)
{
    static const char *const kinds[] = {"eager", "send", "rdma"};
    unsigned found = 0;
    for (size_t at = layout.object.size; at + layout.array.size <= layout.endpoint.size && found < 3; at += sizeof(uintptr_t)) {
        if (!is_a(endpoint + at, &layout.array)) continue;
        write_array(endpoint + at, kinds[found++], rank);
        at += layout.array.size - sizeof(uintptr_t);
    }
}

static void write_proc(uintptr_t proc, uint32_t job)
{
    uint32_t name[2];
    if (!read_memory(proc + layout.item.size, name, sizeof name) || name[0] != job) return;
    for (size_t at = layout.item.size; at + sizeof(uintptr_t) <= layout.proc.size; at += sizeof(uintptr_t)) {
        uintptr_t word = word_at(proc + at);
        if (word && is_a(word, &layout.endpoint)) {
            write_endpoint(word, (int32_t)name[1]);
            return;
        }
    }
}

static void write_procs(void)
{
    uint32_t own[2];
    uintptr_t sentinel = layout.list + layout.object.size;
    if (!is_a(layout.own, &layout.proc) || !read_memory(layout.own + layout.item.size, own, sizeof own) ||
        own[1] != (uint32_t)agent_process.rank)
        return;
    uintptr_t item = word_at(sentinel + layout.object.size);
    for (unsigned i = 0; i < PROCS && item && item != sentinel && is_a(item, &layout.proc); i++) {
        write_proc(item, own[0]);
        item = word_at(item + layout.object.size);
    }
}

static void write_component(void *handle)
{
    struct component component;
    uintptr_t address = (uintptr_t)dlsym(handle, "mca_pml_base_selected_component");
    if (!component_at(address, "pml", &component)) return;
    paths_add(&(struct paths_seen){.kind = "pml", .name = component.name, .rank = -1});
    address = (uintptr_t)dlsym(handle, "ompi_mtl_base_selected_component");
    if (address && strcmp(component.name, "cm") == 0 && component_at(word_at(address), "mtl", &component))
        paths_add(&(struct paths_seen){.kind = "mtl", .name = component.name, .rank = -1});
}

static bool done;

static void search_object(const struct object *object, void *argument)
{
    (void)argument;
    if (done || (strcmp(object->path, library.path) != 0 && !strstr(object->path, "/libopen_mpi.so") && !strstr(object->path, "/libmpi.so")))
        return;
    void *handle = object_open(object->path);
    if (!handle) return;
    if (dlsym(handle, "mca_pml_base_selected_component")) {
        done = true;
        write_component(handle);
        if (find_layout(handle)) write_procs();
    }
    dlclose(handle);
}

void openmpi_write(void)
{
    if (strcmp(library_family, "mpich") != 0) objects_each(search_object, NULL);
}
