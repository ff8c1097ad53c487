/* probe.c: tries variables in forked children.
 *
 * Libraries crash and hang on some of the variables they list, and jumping out of the signal handler leaves their lock held.
 * Variables that are not known to be safe are therefore tried in a child, which records its progress in shared memory. If the child
 * dies, the parent sees the call that killed it and starts another child after that variable. The results are the values that the
 * child read. The parent makes no call that has not succeeded in a child.
 *
 * The child stays in its session, since a new session gets a scheduling group of its own and starves on a busy machine. It has
 * default signal handlers, makes no core dump, prints nothing, and leaves by _exit. */
#define _GNU_SOURCE
#include "probe.h"

#include "clone.h"
#include "procstat.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <setjmp.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define SLACK 4096        /* after each value, to detect overruns */
#define MAX_FORKS 400
#define MAX_UNREADY 50    /* children that could not allocate, see clone.h */
#define READY_MS 20       /* allocating takes less; a child that still sleeps then waits for a lock that nobody releases */

/* Two children run in parallel: one tries the performance variables, which crash more often, and one everything else. A fork takes longer than trying hundreds of variables. */
#define WORKERS 2

/* The progress of a child, at the start of the mapping. */
struct progress {
    volatile uint32_t calls; /* library calls entered */
    volatile int item;       /* being tried */
    volatile int phase;      /* 0: reading, 1: trial writes */
    volatile int ready;      /* it can allocate */
    volatile int signal;     /* that it caught */
    volatile int finished;   /* it tried everything; a library may exit before */
    volatile int tainted;    /* it continued after a crash */
    int again;               /* only the doubtful items are left */
    volatile size_t used;    /* bytes used of its part of the data area, which ends at end */
    size_t end;
};

static struct progress *progress_of(const struct mpitx_probe *p) { return (struct progress *)(void *)p->items - WORKERS; }

static int worker_of(const struct mpitx_probe *p, int item)
{
    return p->items[item].kind != MPITX_PROBE_PVAR;
}

static int await(pid_t pid)
{
    int status = 0;
    while (waitpid(pid, &status, __WALL) < 0 && errno == EINTR)
        ;
    return status;
}

int mpitx_probe_new(struct mpitx_probe *p, int num_items, size_t data_size)
{
    size_t head = WORKERS * sizeof(struct progress) + (size_t)num_items * sizeof(struct mpitx_probe_item);
    head = (head + 63) & ~(size_t)63;
    memset(p, 0, sizeof *p);
    char *m = mmap(NULL, head + data_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (m == MAP_FAILED)
        return MPITX_ERR_MEMORY;
    p->items = (struct mpitx_probe_item *)(void *)(m + WORKERS * sizeof(struct progress));
    p->num_items = num_items;
    p->data = m + head;
    p->data_size = data_size;
    p->mapped = head + data_size;
    return MPITX_SUCCESS;
}

void mpitx_probe_wait(struct mpitx_probe *p)
{
    while (p->num_leaving > 0)
        await(p->leaving[--p->num_leaving]);
}

void mpitx_probe_free(struct mpitx_probe *p)
{
    mpitx_probe_wait(p);
    if (p->items)
        munmap(progress_of(p), p->mapped);
    memset(p, 0, sizeof *p);
}

/* ---- the child ---- */

struct child {
    const struct mpitx_probe *probe;
    const struct mpitx_table *t;
    const struct mpitx_probe_options *o;
    struct progress *now;
    mpitx_handle session;
    char *buf; /* reallocated as needed */
    size_t buf_size;
};

static void enter(struct child *c, struct mpitx_probe_item *it, int step)
{
    it->step = step;
    c->now->calls++;
}

/* Written after each value to detect overruns. Bytes rarely repeat, so that any write shows. */
static unsigned char canary[SLACK];

/* Returns a buffer for n bytes followed by the canary. */
static char *buffer(struct child *c, size_t n)
{
    if (n + SLACK > c->buf_size) {
        free(c->buf);
        c->buf_size = n + SLACK;
        if ((c->buf = malloc(c->buf_size)) == NULL)
            _exit(3);
    }
    memset(c->buf, 0, n);
    memcpy(c->buf + n, canary, SLACK);
    return c->buf;
}

static bool overran(const char *end) { return memcmp(end, canary, SLACK) != 0; }

static bool keep(struct child *c, const char *value, size_t n, uint32_t *offset, uint32_t *length)
{
    size_t used = (c->now->used + 7) & ~(size_t)7;
    if (used > c->now->end || n > c->now->end - used)
        return false;
    memcpy(c->probe->data + used, value, n);
    *offset = (uint32_t)used;
    *length = (uint32_t)n;
    c->now->used = used + n;
    return true;
}

struct opened {
    int datatype, scope, continuous, readonly;
    mpitx_handle handle;
    size_t bytes; /* of the whole value */
};

static char name[4096], desc[65536]; /* only written to, in a child */

#define MAX_ENUMS 1024
#define MAX_ITEMS 65536 /* bound of an enumeration's claimed number of items, as in enum.go */
#define MAX_MEMBERS (1 << 20)

/* Queries a variable's enumeration, once for all its variables. */
static void try_enum(struct child *c, struct mpitx_probe_item *it, mpitx_handle e)
{
    static mpitx_handle done[MAX_ENUMS];
    static int num_done;
    for (int i = 0; i < num_done; i++)
        if (done[i] == e)
            return;
    int num = 0, len = sizeof name, value;
    enter(c, it, MPITX_STEP_ENUM);
    if (c->t->enum_get_info(e, &num, name, &len) != MPITX_SUCCESS)
        num = 0;
    for (int i = 0; i < num && i < MAX_ITEMS; i++) {
        len = sizeof name;
        c->now->calls++;
        if (c->t->enum_get_item(e, i, &value, name, &len) != MPITX_SUCCESS)
            break;
    }
    if (num_done < MAX_ENUMS)
        done[num_done++] = e;
}

static void try_category(struct child *c, struct mpitx_probe_item *it)
{
    int name_len = sizeof name, desc_len = sizeof desc, num[4] = {0};
    int (*const lists[])(int, int, int *) = {c->t->category_get_cvars, c->t->category_get_pvars, c->t->category_get_categories,
                                             c->t->category_get_events};
    enter(c, it, MPITX_STEP_INFO);
    it->info_rc = c->t->category_get_info(it->index, name, &name_len, desc, &desc_len, &num[0], &num[1], &num[2]);
    if (it->info_rc == MPITX_SUCCESS && c->t->category_get_num_events && c->t->category_get_events) {
        enter(c, it, MPITX_STEP_MEMBERS);
        c->t->category_get_num_events(it->index, &num[3]);
    }
    for (int i = 0; i < 4 && it->info_rc == MPITX_SUCCESS; i++) {
        if (num[i] <= 0 || num[i] > MAX_MEMBERS)
            continue;
        size_t bytes = (size_t)num[i] * sizeof(int);
        char *buf = buffer(c, bytes);
        enter(c, it, MPITX_STEP_MEMBERS);
        if (lists[i](it->index, num[i], (int *)(void *)buf) == MPITX_SUCCESS && overran(buf + bytes))
            it->overrun = 1;
    }
}

static void try_source(struct child *c, struct mpitx_probe_item *it)
{
    int name_len = sizeof name, desc_len = sizeof desc;
    struct mpitx_source_info info;
    int64_t now;
    enter(c, it, MPITX_STEP_INFO);
    it->info_rc = c->t->source_get_info(it->index, name, &name_len, desc, &desc_len, &info);
    if (it->info_rc != MPITX_SUCCESS)
        return;
    enter(c, it, MPITX_STEP_TIMESTAMP);
    it->read_rc = c->t->source_get_timestamp(it->index, &now);
}

/* The library may call it before the child has ended. */
static void ignore_event(mpitx_handle instance, mpitx_handle registration, int safety, void *user_data)
{
    (void)instance, (void)registration, (void)safety, (void)user_data;
}

/* Keeps the keys and values of an info object. */
static void keep_info(struct child *c, struct mpitx_probe_item *it, mpitx_handle info)
{
    static char text[1 << 16], key[MPITX_INFO_KEY], value[MPITX_INFO_VALUE];
    size_t used = 0;
    int num = 0, found;
    if (c->t->info_get_nkeys(info, &num) != MPITX_SUCCESS)
        return;
    for (int n = 0; n < num && used + sizeof key + sizeof value + 2 <= sizeof text; n++) {
        if (c->t->info_get_nthkey(info, n, key) == MPITX_SUCCESS && c->t->info_get(info, key, value, &found) == MPITX_SUCCESS && found)
            used += (size_t)sprintf(text + used, "%s%c%s", key, 0, value) + 1;
    }
    keep(c, text, used, &it->offset, &it->length);
}

/* Queries an event type, registers a callback with each safety level, and asks for the handle's info. */
static void try_event(struct child *c, struct mpitx_probe_item *it)
{
    int name_len = sizeof name, desc_len = sizeof desc;
    struct mpitx_event_info info = {0};
    mpitx_handle registration;
    enter(c, it, MPITX_STEP_INFO);
    it->info_rc = c->t->event_get_info(it->index, name, &name_len, desc, &desc_len, NULL, NULL, &info);
    if (it->info_rc != MPITX_SUCCESS)
        return;
    if (info.enumtype)
        try_enum(c, it, info.enumtype);
    it->bind = info.bind;
    int object = it->bind == MPITX_BIND_MPI_COMM ? c->o->object : MPITX_OBJECT_NONE;
    it->unbound = it->bind != MPITX_BIND_NO_OBJECT && object == MPITX_OBJECT_NONE;
    if (it->unbound)
        return;
    enter(c, it, MPITX_STEP_ALLOC);
    it->alloc_rc = c->t->event_handle_alloc(it->index, object, 0, &registration);
    if (it->alloc_rc != MPITX_SUCCESS)
        return;
    for (int s = MPITX_CB_REQUIRE_NONE; s <= MPITX_CB_REQUIRE_ASYNC_SIGNAL_SAFE; s++) {
        enter(c, it, MPITX_STEP_REGISTER);
        if (c->t->event_register_callback(registration, s, 0, NULL, ignore_event) == MPITX_SUCCESS)
            it->safeties |= 1 << s;
    }
    mpitx_handle used = 0;
    enter(c, it, MPITX_STEP_HANDLE_INFO);
    if (c->t->event_handle_get_info(registration, &used) == MPITX_SUCCESS && used)
        keep_info(c, it, used);
}

static bool excluded(const struct mpitx_probe_options *o, int var_class)
{
    for (int i = 0; i < o->num_excluded; i++)
        if (o->excluded[i].var_class == var_class && strcmp(o->excluded[i].name, name) == 0)
            return true;
    return false;
}

/* Queries and opens a variable. Returns false if it was not opened; the item's codes say why. */
static bool open_variable(struct child *c, struct mpitx_probe_item *it, struct opened *v)
{
    int name_len = sizeof name, desc_len = sizeof desc;
    int var_class = -1;
    mpitx_handle enumeration;
    memset(v, 0, sizeof *v);

    enter(c, it, MPITX_STEP_INFO);
    if (it->kind == MPITX_PROBE_CVAR) {
        struct mpitx_cvar_info info = {0};
        it->info_rc = c->t->cvar_get_info(it->index, name, &name_len, desc, &desc_len, &info);
        v->datatype = info.datatype, v->scope = info.scope, it->bind = info.bind, enumeration = info.enumtype;
    } else {
        struct mpitx_pvar_info info = {0};
        it->info_rc = c->t->pvar_get_info(it->index, name, &name_len, desc, &desc_len, &info);
        v->datatype = info.datatype, v->continuous = info.continuous, v->readonly = info.readonly, it->bind = info.bind, enumeration = info.enumtype;
        var_class = info.var_class;
    }
    if (it->info_rc != MPITX_SUCCESS)
        return false;
    it->excluded = excluded(c->o, var_class);
    if (it->excluded)
        return false;
    it->datatype = v->datatype;
    if (enumeration)
        try_enum(c, it, enumeration);

    int object = MPITX_OBJECT_NONE;
    if (it->bind == MPITX_BIND_MPI_COMM)
        object = c->o->object;
    it->unbound = it->bind != MPITX_BIND_NO_OBJECT && object == MPITX_OBJECT_NONE;
    if (it->unbound)
        return false;

    enter(c, it, MPITX_STEP_ALLOC);
    it->count = -1;
    if (it->kind == MPITX_PROBE_CVAR)
        it->alloc_rc = c->t->cvar_handle_alloc(it->index, object, &v->handle, &it->count);
    else
        it->alloc_rc = c->t->pvar_handle_alloc(c->session, it->index, object, &v->handle, &it->count);
    if (it->alloc_rc != MPITX_SUCCESS)
        return false;
    size_t size = mpitx_type_size(v->datatype);
    int count = it->count < 0 ? 1 : it->count; /* not set by the library: such variables have one element */
    v->bytes = (size ? size : 16) * (size_t)count; /* an unknown type is not decoded, but the library may write that much */
    if (v->bytes > c->probe->data_size / WORKERS) {
        it->too_large = 1;
        return false;
    }
    return true;
}

static size_t value_length(const struct opened *v, const char *value)
{
    return v->datatype == MPITX_TYPE_CHAR ? strnlen(value, v->bytes) : v->bytes;
}

static void try_read(struct child *c, struct mpitx_probe_item *it)
{
    struct opened v;
    if (!open_variable(c, it, &v))
        return;
    if (it->kind == MPITX_PROBE_PVAR && !v.continuous) {
        enter(c, it, MPITX_STEP_START);
        it->start_rc = c->t->pvar_start(c->session, v.handle);
    }
    char *buf = buffer(c, v.bytes);
    enter(c, it, MPITX_STEP_READ);
    it->read_rc = it->kind == MPITX_PROBE_CVAR ? c->t->cvar_read(v.handle, buf) : c->t->pvar_read(c->session, v.handle, buf);
    it->overrun = overran(buf + v.bytes);
    if (it->read_rc == MPITX_SUCCESS && mpitx_type_size(v.datatype) > 0 &&
        !keep(c, buf, value_length(&v, buf), &it->offset, &it->length))
        it->too_large = 1;
}

static void try_write(struct child *c, struct mpitx_probe_item *it)
{
    struct opened v;
    if (it->fault || it->step != MPITX_STEP_DONE || it->read_rc != MPITX_SUCCESS || it->too_large || it->overrun)
        return;
    if (!open_variable(c, it, &v) || mpitx_type_size(v.datatype) == 0)
        return;
    if (it->new_value && (it->new_type != v.datatype || it->new_bytes != v.bytes)) {
        it->write_rc = MPITX_ERR_INVALID;
        return;
    }
    /* An unterminated string, or a value whose size changed, cannot be written back. */
    if (!it->new_value && (v.bytes == 0 || (v.datatype == MPITX_TYPE_CHAR ? it->length >= v.bytes : it->length != v.bytes)))
        return;
    if (v.scope == MPITX_SCOPE_CONSTANT || v.scope == MPITX_SCOPE_READONLY) {
        it->write_rc = MPITX_ERR_CVAR_SET_NEVER;
        if (it->new_value == NULL)
            return;
    }
    char *buf = buffer(c, v.bytes);
    memcpy(buf, it->new_value ? (const char *)it->new_value : c->probe->data + it->offset,
           it->new_value ? v.bytes : it->length);
    enter(c, it, MPITX_STEP_WRITE);
    it->write_rc = c->t->cvar_write(v.handle, buf);
    if (it->new_value == NULL || it->write_rc != MPITX_SUCCESS)
        return;
    buf = buffer(c, v.bytes);
    enter(c, it, MPITX_STEP_READ);
    it->back_rc = c->t->cvar_read(v.handle, buf);
    if (it->back_rc == MPITX_SUCCESS && !keep(c, buf, value_length(&v, buf), &it->back_offset, &it->back_length))
        it->back_rc = -1;
}

/* Writes, resets or readresets a performance variable with a handle of its own. Only a variable that is stopped can be written. */
static void try_change(struct child *c, struct mpitx_probe_item *it)
{
    struct opened v;
    if (it->fault || it->step != MPITX_STEP_DONE || it->read_rc != MPITX_SUCCESS || it->too_large || it->overrun)
        return;
    if (!open_variable(c, it, &v) || mpitx_type_size(v.datatype) == 0)
        return;
    if (v.readonly) {
        it->write_rc = MPITX_ERR_PVAR_NO_WRITE;
        return;
    }
    if (it->change == MPITX_CHANGE_WRITE && (it->new_type != v.datatype || it->new_bytes != v.bytes)) {
        it->write_rc = MPITX_ERR_INVALID;
        return;
    }
    if (it->change != MPITX_CHANGE_WRITE && !v.continuous) {
        enter(c, it, MPITX_STEP_START);
        c->t->pvar_start(c->session, v.handle);
    }
    char *buf = buffer(c, v.bytes);
    switch (it->change) {
    case MPITX_CHANGE_WRITE:
        memcpy(buf, it->new_value, v.bytes);
        enter(c, it, MPITX_STEP_WRITE);
        it->write_rc = c->t->pvar_write(c->session, v.handle, buf);
        break;
    case MPITX_CHANGE_RESET:
        enter(c, it, MPITX_STEP_RESET);
        it->write_rc = c->t->pvar_reset(c->session, v.handle);
        break;
    default:
        enter(c, it, MPITX_STEP_READRESET);
        it->write_rc = c->t->pvar_readreset(c->session, v.handle, buf);
        it->overrun = overran(buf + v.bytes);
    }
    if (it->write_rc != MPITX_SUCCESS || it->overrun)
        return;
    buf = buffer(c, v.bytes);
    enter(c, it, MPITX_STEP_READ);
    it->back_rc = c->t->pvar_read(c->session, v.handle, buf);
    if (it->back_rc == MPITX_SUCCESS && !keep(c, buf, value_length(&v, buf), &it->back_offset, &it->back_length))
        it->back_rc = -1;
}

/* Crashes come in groups: a component without its device crashes in all its variables, at the same instruction. A fork for each
 * costs milliseconds. If the library's lock can be released (t_unlock), the child therefore continues after a crash. It is tainted
 * then: another crash counts only if it is the same one; any other end, and every success, is tried again in a fresh child. */
static struct {
    struct progress *now;
    struct mpitx_probe *probe;
    const struct mpitx_table *t;
    sigjmp_buf after;
    struct fingerprint {
        int signal, step;
        uintptr_t instruction, address;
    } first;
} self; /* this child's, for its signal handler */

static uintptr_t instruction(const ucontext_t *context)
{
#if defined(__x86_64__)
    return (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    return (uintptr_t)context->uc_mcontext.pc;
#else
    (void)context;
    return 0;
#endif
}

/* A caught crash leaves no line in the system log and no core file. */
static void crashed(int sig, siginfo_t *info, void *context)
{
    struct mpitx_probe_item *it = &self.probe->items[self.now->item];
    struct fingerprint f = {sig, it->step, instruction(context), (uintptr_t)info->si_addr};
    self.now->signal = sig;
    if (!self.now->ready || self.t->t_unlock == NULL || self.now->item >= self.probe->num_items)
        _exit(128 + sig);
    if (!self.now->tainted)
        self.first = f;
    else if (f.signal != self.first.signal || f.step != self.first.step || f.instruction != self.first.instruction || f.address != self.first.address)
        _exit(128 + sig); /* no result: the parent sees that this child is tainted */
    self.now->tainted = 1;
    it->fault = MPITX_FAULT_CRASH;
    it->fault_step = it->step;
    it->signal = sig;
    siglongjmp(self.after, 1);
}

static void default_signals(void)
{
    static char stack[16384];
    stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
    sigaltstack(&alternate, NULL);
    for (int s = 1; s < 32; s++)
        signal(s, s == SIGPIPE ? SIG_IGN : SIG_DFL);
    static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};
    struct sigaction action = {.sa_sigaction = crashed, .sa_flags = SA_ONSTACK | SA_SIGINFO};
    for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++)
        sigaction(crashes[i], &action, NULL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static void run_child(struct mpitx_probe *p, int worker, const struct mpitx_table *t, const struct mpitx_probe_options *o, pid_t parent, int ended)
{
    static struct child c; /* static, as it changes between sigsetjmp and siglongjmp */
    c = (struct child){.probe = p, .t = t, .o = o, .now = progress_of(p) + worker};
    self.now = c.now;
    self.probe = p;
    self.t = t;
    for (int i = 0; i < SLACK; i++)
        canary[i] = (unsigned char)(0x5b ^ (i * 37));
    if (o->in_child)
        o->in_child();
    default_signals();
    clone_ready();
    c.now->ready = 1;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(4);
    struct rlimit zero = {0, 0};
    setrlimit(RLIMIT_CORE, &zero);
    prctl(PR_SET_DUMPABLE, 0);
    int null = open("/dev/null", O_RDWR);
    if (null >= 0) {
        dup2(null, 1);
        dup2(null, 2);
    }

    if (sigsetjmp(self.after, 1)) {
        t->t_unlock();
        c.session = 0; /* its state is unknown */
        c.now->item++;
    }
    for (; c.now->phase <= (o->trial_writes ? 1 : 0); c.now->phase++, c.now->item = 0) {
        for (; c.now->item < p->num_items; c.now->item++) {
            struct mpitx_probe_item *it = &p->items[c.now->item];
            if (it->fault || worker_of(p, c.now->item) != worker || (c.now->again && !it->doubtful) ||
                (c.now->phase == 1 && it->kind != MPITX_PROBE_CVAR && !it->change))
                continue;
            if (it->kind == MPITX_PROBE_PVAR && c.session == 0) {
                enter(&c, it, MPITX_STEP_ALLOC);
                it->alloc_rc = t->pvar_session_create(&c.session);
                if (it->alloc_rc != MPITX_SUCCESS || c.now->phase == 1)
                    it->step = MPITX_STEP_DONE; /* in phase 1: it has been read */
                if (it->alloc_rc != MPITX_SUCCESS)
                    continue;
            }
            if (it->kind == MPITX_PROBE_CATEGORY)
                try_category(&c, it);
            else if (it->kind == MPITX_PROBE_SOURCE)
                try_source(&c, it);
            else if (it->kind == MPITX_PROBE_EVENT)
                try_event(&c, it);
            else if (c.now->phase == 0)
                try_read(&c, it);
            else if (it->kind == MPITX_PROBE_PVAR)
                try_change(&c, it);
            else
                try_write(&c, it);
            it->step = MPITX_STEP_DONE;
            it->doubtful = c.now->tainted;
        }
    }
    c.now->finished = 1;
    if (write(ended, "", 1) < 0)
        _exit(0); /* the parent sees the pipe close */
    _exit(0);
}

/* ---- the parent ---- */

static long long now_ms(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return ts.tv_sec * 1000LL + ts.tv_nsec / 1000000;
}

/* The parent's view of a child. */
struct worker {
    struct progress *now;
    pid_t pid;      /* 0: none is running */
    int ended;      /* read end of a pipe: the child writes to it when it has finished, and it closes with the child */
    bool done;      /* nothing is left to try */
    uint32_t calls; /* last value seen */
    long long since;
    long ticks;
    int stalled_item, stalled_phase;
    int unready; /* children that could not allocate */
};

static bool start(struct mpitx_probe *p, struct worker *w, int number, const struct mpitx_table *t, const struct mpitx_probe_options *o)
{
    int pipefd[2];
    if (pipe2(pipefd, O_CLOEXEC) != 0)
        return false;
    w->now->ready = w->now->signal = w->now->finished = w->now->tainted = 0;
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    pid_t parent = getpid();
    pid_t pid = clone_process();
    if (pid == 0)
        run_child(p, number, t, o, parent, pipefd[1]);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    close(pipefd[1]);
    if (pid < 0) {
        close(pipefd[0]);
        return false;
    }
    p->forks++;
    w->pid = pid;
    w->ended = pipefd[0];
    w->calls = w->now->calls;
    w->since = now_ms();
    w->ticks = procstat_read(pid).ticks;
    return true;
}

enum state { RUNS, ENDED, STUCK, LATE };

/* Assesses a child whose pipe is open. */
static enum state check_child(struct worker *w, int limit_ms, long long deadline)
{
    long long t = now_ms();
    if (w->now->calls != w->calls) {
        w->calls = w->now->calls;
        w->since = t;
        w->ticks = procstat_read(w->pid).ticks;
    }
    if (!w->now->ready && t - w->since >= READY_MS && procstat_read(w->pid).state == 'S' && !w->now->ready)
        return STUCK;
    if (t - w->since < limit_ms)
        return t < deadline ? RUNS : LATE;
    struct procstat child = procstat_read(w->pid);
    if (child.state == 'Z') /* a process that the library started holds the pipe */
        return ENDED;
    /* Runnable without processor time: starved by other processes, not stuck. */
    bool starved = child.state == 'R' && (child.ticks - w->ticks) * 1000 / sysconf(_SC_CLK_TCK) < limit_ms / 4;
    if (starved && t - w->since <= 10LL * limit_ms)
        return t < deadline ? RUNS : LATE;
    return STUCK;
}

/* After a tainted child has ended, a fresh one tries the doubtful items and those not reached. */
static void retry_doubtful(struct mpitx_probe *p, struct worker *w)
{
    int left = 0;
    bool finished = w->now->finished;
    int number = (int)(w->now - progress_of(p));
    for (int i = 0; i < p->num_items; i++) {
        struct mpitx_probe_item *it = &p->items[i];
        if (it->fault || worker_of(p, i) != number)
            continue;
        if (!finished && !w->now->again)
            it->doubtful = 1;
        if (it->doubtful) {
            it->step = MPITX_STEP_NONE;
            left++;
        }
    }
    w->now->again = 1;
    w->now->phase = w->now->item = 0;
    w->done = left == 0;
}

/* Handles the end of a child, and kills it if it has not ended. */
static void reap(struct mpitx_probe *p, struct worker *w, enum state state, long long deadline)
{
    int status = 0;
    bool hung = state == STUCK;
    if (state != ENDED)
        kill(w->pid, SIGKILL);
    if (state == ENDED && w->now->finished && p->num_leaving < MPITX_PROBE_LEAVING)
        p->leaving[p->num_leaving++] = w->pid; /* releasing its memory takes time */
    else
        status = await(w->pid);
    close(w->ended);
    w->pid = 0;
    if (!w->now->ready && state != LATE) {
        w->unready++;
        return; /* start another copy */
    }
    if (w->now->tainted && state != LATE) {
        retry_doubtful(p, w);
        return;
    }
    if (w->now->finished) {
        w->done = true;
        return;
    }
    if (w->now->item >= p->num_items) { /* between the phases */
        w->now->item = 0;
        w->now->phase++;
        return;
    }
    struct mpitx_probe_item *it = &p->items[w->now->item];
    if (state == LATE)
        return; /* this item and later ones remain unknown */
    if (hung && !(w->stalled_item == w->now->item && w->stalled_phase == w->now->phase) && now_ms() < deadline) {
        w->stalled_item = w->now->item;
        w->stalled_phase = w->now->phase;
        if (w->now->phase == 1)
            it->step = MPITX_STEP_DONE; /* reading is done */
        return; /* try it once more */
    }
    it->fault = hung ? MPITX_FAULT_TIMEOUT : MPITX_FAULT_CRASH;
    it->fault_step = it->step;
    if (!hung)
        it->signal = WIFSIGNALED(status) ? WTERMSIG(status) : w->now->signal;
    w->now->item++;
}

int mpitx_probe_run(struct mpitx_probe *p, const struct mpitx_table *t, const struct mpitx_probe_options *o)
{
    long long deadline = now_ms() + o->total_ms;
    struct worker workers[WORKERS];
    bool busy[WORKERS] = {false};

    for (int i = 0; i < p->num_items; i++) {
        p->items[i].write_rc = p->items[i].back_rc = -1;
        busy[worker_of(p, i)] = true;
    }
    for (int n = 0; n < WORKERS; n++) {
        size_t part = p->data_size / WORKERS;
        workers[n] = (struct worker){.now = progress_of(p) + n, .stalled_item = -1, .done = !busy[n]};
        *workers[n].now = (struct progress){.used = (size_t)n * part, .end = (size_t)(n + 1) * part};
    }

    bool failed = false;
    for (;;) {
        struct pollfd fds[WORKERS];
        struct worker *running[WORKERS];
        int count = 0;
        bool over = failed || p->forks >= MAX_FORKS || now_ms() >= deadline;
        for (int n = 0; n < WORKERS; n++) {
            struct worker *w = &workers[n];
            if (!w->done && w->pid == 0 && !over && (w->unready > MAX_UNREADY || !start(p, w, n, t, o)))
                failed = true;
            if (w->pid != 0) {
                fds[count] = (struct pollfd){.fd = w->ended, .events = POLLIN};
                running[count++] = w;
            }
        }
        if (count == 0)
            break;
        poll(fds, (nfds_t)count, 20);
        for (int k = 0; k < count; k++) {
            enum state state = fds[k].revents ? ENDED : check_child(running[k], o->limit_ms, deadline);
            if (state != RUNS)
                reap(p, running[k], state, deadline);
        }
    }
    if (failed)
        return MPITX_ERR_MEMORY;
    /* Too many faults, or no time left: items that were not reached are given up. */
    for (int i = 0; i < p->num_items; i++)
        if (workers[worker_of(p, i)].now->phase == 0 && !workers[worker_of(p, i)].done && !p->items[i].fault &&
            p->items[i].step != MPITX_STEP_DONE) {
            p->items[i].fault = MPITX_FAULT_GIVEN_UP;
            p->items[i].fault_step = MPITX_STEP_NONE;
        }
    return MPITX_SUCCESS;
}
