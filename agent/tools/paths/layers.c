/* layers.c: follows functions below the MPI library, by changing the references to them (base/references.h) of the
 * library, of its components and of UCX: operations on UCX's endpoints, and single copies from one process to another.
 *
 * UCX's own names and structures are part of its public interface, and do not change: ucp.h. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "base/clock.h"
#include "base/references.h"
#include "mpi/library.h"
#include "tools/paths/paths.h"

enum { ENDPOINTS = 4096, WORKERS = 64, PROCESSES = 1024, PREFIX = 16, TEXT = 4000, ASKING_NS = 200000000 };

/* ---- endpoints of UCX ---- */

static struct endpoint {
    uintptr_t handle; /* 0: free; never freed again */
    uint64_t peer;    /* which worker it leads to, by its address; 0: unknown */
    uint64_t count;
    uint32_t closed;
} endpoints[ENDPOINTS];

static struct {
    uint64_t peer;
} workers[WORKERS];
static bool no_room;

/* Addresses are as long as their transports need, and begin with the worker's random number. */
static uint64_t peer_of(const void *address)
{
    uint64_t words[PREFIX / sizeof(uint64_t)];
    memcpy(words, address, sizeof words);
    uint64_t hash = (words[0] * UINT64_C(0x9e3779b97f4a7c15) ^ words[1]) * UINT64_C(0xd1342543de82ef95);
    return (hash ^ hash >> 32) | 1;
}

static struct endpoint *endpoint_of(uintptr_t handle)
{
    uint64_t hash = (handle >> 3) * UINT64_C(0x9e3779b97f4a7c15) >> 32;
    for (unsigned i = 0; i < 64; i++) {
        struct endpoint *e = &endpoints[(hash + i) % ENDPOINTS];
        uintptr_t has = __atomic_load_n(&e->handle, __ATOMIC_RELAXED);
        if (!has && __atomic_compare_exchange_n(&e->handle, &has, handle, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) return e;
        if (has == handle) return e;
    }
    no_room = true;
    return NULL;
}

static void count_operation(uintptr_t handle)
{
    struct endpoint *e = endpoint_of(handle);
    if (e) __atomic_fetch_add(&e->count, 1, __ATOMIC_RELAXED);
}

static void add_worker(const void *address)
{
    uint64_t peer = peer_of(address), none = 0;
    for (unsigned i = 0; i < WORKERS; i++, none = 0)
        if (__atomic_load_n(&workers[i].peer, __ATOMIC_RELAXED) == peer ||
            __atomic_compare_exchange_n(&workers[i].peer, &none, peer, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            return;
}

/* ---- single copies ---- */

static struct copies {
    uint64_t process; /* 0: free; its ID times 2, plus 1 if it was written to */
    uint64_t count, bytes, failed, error;
} copies[PROCESSES];

static void count_copy(pid_t process, bool wrote, ssize_t bytes, int error)
{
    uint64_t key = (uint64_t)(uint32_t)process * 2 + wrote;
    for (unsigned i = 0; i < 64; i++) {
        struct copies *c = &copies[(key + i) % PROCESSES];
        uint64_t has = __atomic_load_n(&c->process, __ATOMIC_RELAXED);
        if (has != key && (has || !__atomic_compare_exchange_n(&c->process, &has, key, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) &&
            has != key)
            continue;
        __atomic_fetch_add(&c->count, 1, __ATOMIC_RELAXED);
        if (bytes >= 0) {
            __atomic_fetch_add(&c->bytes, (uint64_t)bytes, __ATOMIC_RELAXED);
            return;
        }
        if (__atomic_fetch_add(&c->failed, 1, __ATOMIC_RELAXED) == 0) c->error = (uint64_t)error;
        return;
    }
    no_room = true;
}

/* ---- the functions ---- */

/* None has more arguments, nor floating-point ones. On x86-64 the last two are on the stack, where at least the caller's
 * frame is. */
#define ARGUMENTS uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e, uintptr_t f, uintptr_t g, uintptr_t h
#define PASSED a, b, c, d, e, f, g, h
typedef uintptr_t function(ARGUMENTS);

enum { EP_CREATE, EP_GONE, WORKER_ADDRESS = EP_GONE + 4, WORKER_QUERY, COPY_READ, COPY_WRITE, PML_SELECT, OPERATIONS };
enum { OPERATION_COUNT = 18 };

static uintptr_t targets[OPERATIONS + OPERATION_COUNT];
#define CALL(number) ((function *)targets[number])(PASSED)

static uintptr_t ep_create(ARGUMENTS)
{
    uintptr_t status = CALL(EP_CREATE);
    const uint64_t *parameters = (const uint64_t *)b;
    const uintptr_t *made = (const uintptr_t *)c;
    if ((int8_t)status != 0 || !made || !*made) return status;
    struct endpoint *endpoint = endpoint_of(*made);
    if (!endpoint) return status;
    uint64_t peer = parameters && parameters[0] & 1 && parameters[1] ? peer_of((const void *)(uintptr_t)parameters[1]) : 0;
    if (endpoint->count && endpoint->peer != peer) peer = 0; /* the operations of two are not told apart */
    endpoint->peer = peer;
    endpoint->closed = 0;
    return status;
}

static void forget(uintptr_t handle)
{
    struct endpoint *e = endpoint_of(handle);
    if (e) e->closed = 1;
}

#define GONE(number) \
    static uintptr_t gone_##number(ARGUMENTS) \
    { \
        forget(a); \
        return CALL(EP_GONE + number); \
    }
GONE(0) GONE(1) GONE(2) GONE(3)

static uintptr_t worker_address(ARGUMENTS)
{
    uintptr_t status = CALL(WORKER_ADDRESS);
    if ((int8_t)status == 0 && b && *(void **)b) add_worker(*(void **)b);
    return status;
}

struct ucp_worker_attr {
    uint64_t field_mask;
    int thread_mode;
    uint32_t address_flags;
    void *address;
};

static uintptr_t worker_query(ARGUMENTS)
{
    const struct ucp_worker_attr *attr = (const struct ucp_worker_attr *)b;
    uintptr_t status = CALL(WORKER_QUERY);
    if ((int8_t)status == 0 && attr && attr->field_mask & 2 && attr->address) add_worker(attr->address);
    return status;
}

static uintptr_t copy(int number, bool wrote, ARGUMENTS)
{
    uintptr_t result = CALL(number);
    int error = errno;
    count_copy((pid_t)a, wrote, (ssize_t)result, error);
    errno = error;
    return result;
}
static uintptr_t copy_read(ARGUMENTS) { return copy(COPY_READ, false, PASSED); }
static uintptr_t copy_write(ARGUMENTS) { return copy(COPY_WRITE, true, PASSED); }

/* Open MPI's components are loaded by then, and have not reached other processes yet. */
static uintptr_t pml_select(ARGUMENTS)
{
    layers_follow();
    return CALL(PML_SELECT);
}

#define OPERATION(number) \
    static uintptr_t operation_##number(ARGUMENTS) \
    { \
        count_operation(a); \
        return CALL(OPERATIONS + number); \
    }
OPERATION(0) OPERATION(1) OPERATION(2) OPERATION(3) OPERATION(4) OPERATION(5) OPERATION(6) OPERATION(7) OPERATION(8)
OPERATION(9) OPERATION(10) OPERATION(11) OPERATION(12) OPERATION(13) OPERATION(14) OPERATION(15) OPERATION(16) OPERATION(17)

static const struct {
    const char *name;
    function *function;
} hooks[] = {
    [EP_CREATE] = {"ucp_ep_create", ep_create},
    [EP_GONE] = {"ucp_ep_destroy", gone_0}, {"ucp_ep_close_nb", gone_1}, {"ucp_ep_close_nbx", gone_2}, {"ucp_disconnect_nb", gone_3},
    [WORKER_ADDRESS] = {"ucp_worker_get_address", worker_address},
    [WORKER_QUERY] = {"ucp_worker_query", worker_query},
    [COPY_READ] = {"process_vm_readv", copy_read},
    [COPY_WRITE] = {"process_vm_writev", copy_write},
    [PML_SELECT] = {"mca_pml_base_select", pml_select},
    [OPERATIONS] = {"ucp_tag_send_nb", operation_0}, {"ucp_tag_send_nbr", operation_1}, {"ucp_tag_send_nbx", operation_2},
    {"ucp_tag_send_sync_nb", operation_3}, {"ucp_tag_send_sync_nbx", operation_4}, {"ucp_am_send_nb", operation_5},
    {"ucp_am_send_nbx", operation_6}, {"ucp_put", operation_7}, {"ucp_put_nb", operation_8}, {"ucp_put_nbi", operation_9},
    {"ucp_put_nbx", operation_10}, {"ucp_get", operation_11}, {"ucp_get_nb", operation_12}, {"ucp_get_nbi", operation_13},
    {"ucp_get_nbx", operation_14}, {"ucp_stream_send_nbx", operation_15}, {"ucp_atomic_op_nbx", operation_16},
    {"ucp_atomic_fetch_nb", operation_17},
};
enum { HOOKS = sizeof hooks / sizeof *hooks };
_Static_assert((int)HOOKS == (int)OPERATIONS + (int)OPERATION_COUNT, "hooks");

/* ---- references ---- */

static uintptr_t choose(void *argument, const char *name, enum reference_kind kind, const uintptr_t *place)
{
    if (*name != 'u' && *name != 'p' && *name != 'm') return 0;
    for (int i = 0; i < HOOKS; i++) {
        if (strcmp(name, hooks[i].name) != 0) continue;
        if (object_is_agent(*place)) return 0;
        uintptr_t target = reference_target(argument, name, kind, place);
        if (!target || object_is_agent(target) || (targets[i] && targets[i] != target)) return 0;
        targets[i] = target;
        return (uintptr_t)hooks[i].function;
    }
    return 0;
}

static bool is_part(const char *path)
{
    static const char *const parts[] = {"/mca_", "/libmpi", "/libopen", "/libmca_", "/libuct", "/libucp", NULL};
    bool part = strcmp(path, library.path) == 0;
    for (int i = 0; parts[i] && !part; i++) part = strstr(path, parts[i]) != NULL;
    return part;
}

void layers_follow(void)
{
    static uint64_t searched;
    references_follow(&searched, is_part, choose);
}

/* ---- what was seen ---- */

/* The lines of UCX's description that name transports and protocols, without their margin. */
static void keep_lines(char *text)
{
    char *to = text;
    for (char *line = text, *next; line && *line; line = next) {
        next = strchr(line, '\n');
        if (next) *next++ = 0;
        line += strspn(line, "# ");
        if (strncmp(line, "lane[", 5) != 0 && strncmp(line, "tag_send:", 9) != 0) continue;
        size_t length = strlen(line);
        memmove(to, line, length);
        to += length;
        *to++ = '\n';
    }
    *to = 0;
}

static void describe(uintptr_t handle, char *text)
{
    static void (*print)(uintptr_t handle, FILE *stream);
    *text = 0;
    if (!print) {
        Dl_info info;
        const char *const files[] = {dladdr((void *)targets[EP_CREATE], &info) ? info.dli_fname : "", "libucp.so.0"};
        for (int i = 0; i < 2 && !print; i++) { /* another tool's function may come before UCX's */
            void *ucp = object_open(files[i]);
            if (!ucp) continue;
            *(void **)&print = dlsym(ucp, "ucp_ep_print_info");
            dlclose(ucp);
        }
    }
    FILE *stream = print ? fmemopen(text, TEXT, "w") : NULL;
    if (!stream) return;
    print(handle, stream);
    fclose(stream);
    text[TEXT - 1] = 0;
    keep_lines(text);
}

void layers_write(bool asking)
{
    static char text[TEXT + 1];
    uint64_t start = clock_kernel();
    for (unsigned i = 0; i < WORKERS && workers[i].peer; i++)
        paths_add(&(struct paths_seen){.kind = "worker", .rank = -1, .id = workers[i].peer});
    for (unsigned i = 0; i < ENDPOINTS; i++) {
        struct endpoint *e = &endpoints[i];
        if (!e->count) continue;
        *text = 0;
        if (asking && !e->closed && clock_kernel() - start < ASKING_NS) describe(e->handle, text);
        paths_add(&(struct paths_seen){.kind = "endpoint", .name = text, .rank = -1, .id = e->handle, .peer = e->peer, .count = e->count});
    }
    for (unsigned i = 0; i < PROCESSES; i++) {
        const struct copies *c = &copies[i];
        if (!c->process) continue;
        paths_add(&(struct paths_seen){.kind = c->process & 1 ? "write" : "read", .name = c->process & 1 ? "process_vm_writev" : "process_vm_readv",
            .rank = -1, .peer = c->process / 2, .count = c->count, .bytes = c->process & 1 ? c->bytes : 0,
            .received = c->process & 1 ? 0 : c->bytes, .failed = c->failed, .code = c->error});
    }
    if (targets[COPY_READ]) paths_add(&(struct paths_seen){.kind = "follows", .name = "process_vm_readv", .rank = -1});
    if (no_room) agent_note("paths: some are unknown: the process reaches more than %d others", ENDPOINTS);
}
