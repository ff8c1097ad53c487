/* probe.c: trying variables in a forked child.
 *
 * Libraries crash and hang on some of the variables they list, and jumping out of the signal handler leaves their lock
 * held. So what has not been proved safe is tried in a child that notes its progress in shared memory; the parent
 * learns from that what the child died of, and starts another one behind it. The child's values are the answer: the
 * parent itself calls nothing that the child did not come back from.
 *
 * The child stays in its session (a new one gets a scheduling group of its own and starves on a busy machine), has the
 * default signal handlers, makes no core dump and no noise, and leaves by _exit. */
#define _GNU_SOURCE
#include "probe.h"

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
#include <time.h>
#include <unistd.h>

#define SLACK 4096        /* behind each value, to see overruns */
#define CANARY 0xA5
#define MOST_FORKS 400

/* What the child tells the parent, at the head of the mapping. */
struct progress {
    volatile uint32_t calls; /* library calls entered */
    volatile int item;       /* being tried */
    volatile int phase;      /* 0: reading, 1: trial writes */
    volatile size_t used;    /* of the data area */
};

static struct progress *progress_of(const struct mpitx_probe *p) { return (struct progress *)(void *)p->items - 1; }

size_t mpitx_type_size(int t)
{
    static const unsigned char sizes[MPITX_TYPE_LAST + 1] = {
        [MPITX_TYPE_INT] = 4, [MPITX_TYPE_UNSIGNED] = 4, [MPITX_TYPE_UNSIGNED_LONG] = 8,
        [MPITX_TYPE_UNSIGNED_LONG_LONG] = 8, [MPITX_TYPE_COUNT] = 8, [MPITX_TYPE_CHAR] = 1, [MPITX_TYPE_DOUBLE] = 8,
        [MPITX_TYPE_INT32_T] = 4, [MPITX_TYPE_INT64_T] = 8, [MPITX_TYPE_UINT32_T] = 4, [MPITX_TYPE_UINT64_T] = 8,
        [MPITX_TYPE_C_BOOL] = 1, [MPITX_TYPE_LONG] = 8, [MPITX_TYPE_LONG_LONG] = 8, [MPITX_TYPE_SHORT] = 2,
        [MPITX_TYPE_UNSIGNED_SHORT] = 2, [MPITX_TYPE_SIGNED_CHAR] = 1, [MPITX_TYPE_UNSIGNED_CHAR] = 1,
        [MPITX_TYPE_FLOAT] = 4, [MPITX_TYPE_INT8_T] = 1, [MPITX_TYPE_INT16_T] = 2, [MPITX_TYPE_UINT8_T] = 1,
        [MPITX_TYPE_UINT16_T] = 2, [MPITX_TYPE_AINT] = 8, [MPITX_TYPE_OFFSET] = 8, [MPITX_TYPE_BYTE] = 1};
    return t >= 1 && t <= MPITX_TYPE_LAST ? sizes[t] : 0;
}

int mpitx_probe_new(struct mpitx_probe *p, int num_items, size_t data_size)
{
    size_t head = sizeof(struct progress) + (size_t)num_items * sizeof(struct mpitx_probe_item);
    head = (head + 63) & ~(size_t)63;
    memset(p, 0, sizeof *p);
    char *m = mmap(NULL, head + data_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (m == MAP_FAILED)
        return MPITX_ERR_MEMORY;
    p->items = (struct mpitx_probe_item *)(void *)(m + sizeof(struct progress));
    p->num_items = num_items;
    p->data = m + head;
    p->data_size = data_size;
    p->mapped = head + data_size;
    return MPITX_SUCCESS;
}

void mpitx_probe_free(struct mpitx_probe *p)
{
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
    char *buf; /* grows */
    size_t buf_size;
};

static void enter(struct child *c, struct mpitx_probe_item *it, int step)
{
    it->step = step;
    c->now->calls++;
}

/* A buffer for n bytes with the canary behind it. */
static char *buffer(struct child *c, size_t n)
{
    if (n + SLACK > c->buf_size) {
        free(c->buf);
        c->buf_size = n + SLACK;
        if ((c->buf = malloc(c->buf_size)) == NULL)
            _exit(3);
    }
    memset(c->buf, 0, n);
    memset(c->buf + n, CANARY, SLACK);
    return c->buf;
}

static bool overran(const char *end)
{
    for (int i = 0; i < SLACK; i++)
        if ((unsigned char)end[i] != CANARY)
            return true;
    return false;
}

static bool keep(struct child *c, const char *value, size_t n, uint32_t *offset, uint32_t *length)
{
    size_t used = (c->now->used + 7) & ~(size_t)7;
    if (n > c->probe->data_size - used || used > c->probe->data_size)
        return false;
    memcpy(c->probe->data + used, value, n);
    *offset = (uint32_t)used;
    *length = (uint32_t)n;
    c->now->used = used + n;
    return true;
}

struct opened {
    int datatype, scope, continuous;
    mpitx_handle handle;
    size_t bytes; /* of the whole value */
};

/* Queries and opens a variable; false where the item's codes say why not. */
static bool open_variable(struct child *c, struct mpitx_probe_item *it, struct opened *v)
{
    static char name[4096], desc[65536];
    int name_len = sizeof name, desc_len = sizeof desc;
    memset(v, 0, sizeof *v);

    enter(c, it, MPITX_STEP_INFO);
    if (it->kind == MPITX_PROBE_CVAR) {
        struct mpitx_cvar_info info = {0};
        it->info_rc = c->t->cvar_get_info(it->index, name, &name_len, desc, &desc_len, &info);
        v->datatype = info.datatype, v->scope = info.scope, it->bind = info.bind;
    } else {
        struct mpitx_pvar_info info = {0};
        it->info_rc = c->t->pvar_get_info(it->index, name, &name_len, desc, &desc_len, &info);
        v->datatype = info.datatype, v->continuous = info.continuous, it->bind = info.bind;
    }
    if (it->info_rc != MPITX_SUCCESS)
        return false;
    it->datatype = v->datatype;

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
    int count = it->count < 0 ? 1 : it->count; /* untouched: one element is what such variables have */
    v->bytes = (size ? size : 16) * (size_t)count; /* of an unknown type nothing can be read, but something may be written */
    if (v->bytes > c->probe->data_size / 2) {
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
    if (it->kind != MPITX_PROBE_CVAR || it->fault || it->step != MPITX_STEP_DONE || it->read_rc != MPITX_SUCCESS || it->too_large)
        return;
    if (!open_variable(c, it, &v) || mpitx_type_size(v.datatype) == 0)
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
    if (c->t->cvar_read(v.handle, buf) == MPITX_SUCCESS)
        keep(c, buf, value_length(&v, buf), &it->back_offset, &it->back_length);
}

static void run_child(struct mpitx_probe *p, const struct mpitx_table *t, const struct mpitx_probe_options *o, pid_t parent)
{
    for (int s = 1; s < 32; s++)
        signal(s, s == SIGPIPE ? SIG_IGN : SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
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

    struct child c = {.probe = p, .t = t, .o = o, .now = progress_of(p)};
    for (; c.now->phase <= (o->trial_writes ? 1 : 0); c.now->phase++, c.now->item = 0) {
        for (; c.now->item < p->num_items; c.now->item++) {
            struct mpitx_probe_item *it = &p->items[c.now->item];
            if (it->fault)
                continue;
            if (it->kind == MPITX_PROBE_PVAR && c.session == 0) {
                enter(&c, it, MPITX_STEP_ALLOC);
                it->alloc_rc = t->pvar_session_create(&c.session);
                if (it->alloc_rc != MPITX_SUCCESS) {
                    it->step = MPITX_STEP_DONE;
                    continue;
                }
            }
            if (c.now->phase == 0)
                try_read(&c, it);
            else
                try_write(&c, it);
            it->step = MPITX_STEP_DONE;
        }
    }
    _exit(0);
}

/* ---- the parent ---- */

static long long now_ms(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return ts.tv_sec * 1000LL + ts.tv_nsec / 1000000;
}

/* The state and the processor time (clock ticks) of a process. */
static char process_state(pid_t pid, long *ticks)
{
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    *ticks = 0;
    if (fd < 0)
        return '?';
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    if (n <= 0)
        return '?';
    text[n] = 0;
    char *p = strrchr(text, ')');
    char state = '?';
    long user = 0, sys = 0;
    if (p == NULL || sscanf(p + 1, " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %ld %ld", &state, &user, &sys) != 3)
        return '?';
    *ticks = user + sys;
    return state;
}

/* Waits for the child; true if it had to be killed because it hung. */
static bool wait_child(struct progress *now, pid_t pid, int ended, int limit_ms, long long deadline, int *status)
{
    uint32_t seen = now->calls;
    long long since = now_ms();
    long ticks_then = 0;
    process_state(pid, &ticks_then);
    bool killed = false;
    for (;;) {
        struct pollfd pfd = {.fd = ended, .events = POLLIN};
        int n = poll(&pfd, 1, 20);
        if (n > 0 && (pfd.revents & (POLLHUP | POLLIN | POLLERR)))
            break;
        long long t = now_ms();
        long ticks;
        if (now->calls != seen) {
            seen = now->calls, since = t;
            process_state(pid, &ticks_then);
        }
        if (t - since < limit_ms && t < deadline)
            continue;
        /* Ready to run and without processor time: starved by others, not stuck. */
        char state = process_state(pid, &ticks);
        if (state == 'R' && (ticks - ticks_then) * 1000 / sysconf(_SC_CLK_TCK) < limit_ms / 4 && t - since < 10LL * limit_ms && t < deadline)
            continue;
        killed = true;
        kill(pid, SIGKILL);
        break;
    }
    while (waitpid(pid, status, 0) < 0 && errno == EINTR)
        ;
    return killed;
}

int mpitx_probe_run(struct mpitx_probe *p, const struct mpitx_table *t, const struct mpitx_probe_options *o)
{
    struct progress *now = progress_of(p);
    long long deadline = now_ms() + o->total_ms;
    int stalled_item = -1, stalled_phase = -1;

    *now = (struct progress){0};
    for (int i = 0; i < p->num_items; i++)
        p->items[i].write_rc = -1;

    while (now->phase <= (o->trial_writes ? 1 : 0)) {
        int pipefd[2];
        if (p->forks >= MOST_FORKS || now_ms() >= deadline)
            break;
        if (pipe2(pipefd, O_CLOEXEC) != 0)
            return MPITX_ERR_MEMORY;
        sigset_t all, old;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &old);
        pid_t parent = getpid();
        pid_t pid = fork();
        if (pid == 0)
            run_child(p, t, o, parent); /* the pipe's write end closes with it */
        pthread_sigmask(SIG_SETMASK, &old, NULL);
        close(pipefd[1]);
        if (pid < 0) {
            close(pipefd[0]);
            return MPITX_ERR_MEMORY;
        }
        p->forks++;
        int status = 0;
        bool hung = wait_child(now, pid, pipefd[0], o->limit_ms, deadline, &status);
        close(pipefd[0]);
        if (!hung && WIFEXITED(status) && WEXITSTATUS(status) == 0)
            return MPITX_SUCCESS;
        if (now->item >= p->num_items)
            break;

        struct mpitx_probe_item *it = &p->items[now->item];
        if (hung && !(stalled_item == now->item && stalled_phase == now->phase) && now_ms() < deadline) {
            stalled_item = now->item, stalled_phase = now->phase; /* once more */
            continue;
        }
        it->fault = hung ? MPITX_FAULT_TIMEOUT : MPITX_FAULT_CRASH;
        it->fault_step = it->step;
        it->signal = WIFSIGNALED(status) && !hung ? WTERMSIG(status) : 0;
        now->item++;
    }
    /* Too many faults, or no time left: what was not reached is not known. */
    for (int i = 0; now->phase == 0 && i < p->num_items; i++)
        if (!p->items[i].fault && p->items[i].step != MPITX_STEP_DONE) {
            p->items[i].fault = MPITX_FAULT_GIVEN_UP;
            p->items[i].fault_step = MPITX_STEP_NONE;
        }
    return MPITX_SUCCESS;
}
