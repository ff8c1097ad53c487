/* events_library: MPI_T events (MPI-4.0, section 15.3.8) for an MPI library that has none. It is linked in front of the library.
 * Programs raise the events themselves. Callbacks are called in the thread that raises, and what they must not do is counted. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "events_library.h"
#include "forbidden.h"

struct registration {
    int type, safety;
    long object; /* the handle; 0: none */
    MPI_T_event_cb_function *callbacks[MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE + 1]; /* by level */
    MPI_T_event_dropped_cb_function *dropped;
    void *data;
    _Atomic int freed;
};

struct instance {
    int type, source;
    MPI_Count time;
    char bytes[16];
};

static struct registration registrations[8192];
static _Atomic int registration_count;
static _Atomic long back;

long events_forbidden(void) { return forbidden; }

static const struct {
    const char *name;
    int bind, count;
    int type[2]; /* 0: int, 1: double, 2: long long */
    MPI_Aint at[2];
} types[EVENTS] = {
    [EVENT_PAIR] = {"test_pair", MPI_T_BIND_NO_OBJECT, 2, {0, 1}, {0, 8}},
    [EVENT_COMM] = {"test_comm", MPI_T_BIND_MPI_COMM, 1, {2}, {0}},
    [EVENT_WIN] = {"test_win", MPI_T_BIND_MPI_WIN, 1, {0}, {0}},
    [EVENT_MORE] = {"more_comm_1", MPI_T_BIND_MPI_COMM, 1, {0}, {0}},
    [EVENT_MOST] = {"more_comm_2", MPI_T_BIND_MPI_COMM, 1, {0}, {0}},
    [EVENT_CRASHING] = {"test_crashing", MPI_T_BIND_NO_OBJECT, 1, {0}, {0}},
    [EVENT_UNREADABLE] = {"test_unreadable", MPI_T_BIND_NO_OBJECT, 1, {0}, {0}},
    [EVENT_WIDE] = {"test_wide", MPI_T_BIND_NO_OBJECT, 1, {0}, {100000}},
};

static MPI_Count now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000LL + t.tv_nsec / 1000;
}

static void put(char *out, int *len, const char *text)
{
    if (len && out && *len > 0) {
        strncpy(out, text, (size_t)*len - 1);
        out[*len - 1] = 0;
    }
    if (len) *len = (int)strlen(text) + 1;
}

/* The agent takes the object that has this function for the MPI library. */
int PMPI_Comm_rank(MPI_Comm comm, int *rank)
{
    static int (*next)(MPI_Comm, int *);
    if (!next) next = (int (*)(MPI_Comm, int *))dlsym(RTLD_NEXT, "PMPI_Comm_rank");
    return forbid(), next(comm, rank);
}

int PMPI_T_source_get_num(int *num) { return *num = 2, MPI_SUCCESS; }

int PMPI_T_source_get_info(int index, char *name, int *name_len, char *desc, int *desc_len, MPI_T_source_order *order, MPI_Count *ticks, MPI_Count *most, MPI_Info *info)
{
    put(name, name_len, index ? "test unordered" : "test ordered");
    put(desc, desc_len, "");
    *order = index ? MPI_T_SOURCE_UNORDERED : MPI_T_SOURCE_ORDERED;
    *ticks = 1000000;
    *most = 1LL << 62;
    *info = MPI_INFO_NULL;
    return MPI_SUCCESS;
}

int PMPI_T_source_get_timestamp(int index, MPI_Count *time) { return *time = now(), MPI_SUCCESS; }
int PMPI_T_event_get_num(int *num) { return *num = EVENTS, MPI_SUCCESS; }

int PMPI_T_event_get_info(int index, char *name, int *name_len, int *verbosity, MPI_Datatype datatypes[], MPI_Aint at[], int *count, MPI_T_enum *enumtype, MPI_Info *info, char *desc, int *desc_len, int *bind)
{
    static MPI_Datatype known[3];
    known[0] = MPI_INT, known[1] = MPI_DOUBLE, known[2] = MPI_LONG_LONG;
    put(name, name_len, types[index].name);
    put(desc, desc_len, "an event of a test");
    if (verbosity) *verbosity = MPI_T_VERBOSITY_USER_BASIC;
    for (int i = 0; count && i < *count && i < types[index].count; i++) datatypes[i] = known[types[index].type[i]], at[i] = types[index].at[i];
    if (count) *count = types[index].count;
    if (enumtype) *enumtype = MPI_T_ENUM_NULL;
    if (info) *info = MPI_INFO_NULL;
    if (bind) *bind = types[index].bind;
    return MPI_SUCCESS;
}

int PMPI_T_event_handle_alloc(int index, void *object, MPI_Info info, MPI_T_event_registration *out)
{
    if (index == EVENT_CRASHING) abort();
    struct registration *r = &registrations[atomic_fetch_add(&registration_count, 1)];
    *r = (struct registration){.type = index};
    if (types[index].bind == MPI_T_BIND_MPI_COMM) r->object = (long)*(MPI_Comm *)object;
    if (types[index].bind == MPI_T_BIND_MPI_WIN) r->object = (long)*(MPI_Win *)object;
    *out = (MPI_T_event_registration)r;
    return MPI_SUCCESS;
}

int PMPI_T_event_register_callback(MPI_T_event_registration handle, MPI_T_cb_safety safety, MPI_Info info, void *data, MPI_T_event_cb_function *callback)
{
    struct registration *r = (struct registration *)handle;
    if (safety == MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE && r->type != EVENT_COMM) return MPI_T_ERR_NOT_SUPPORTED;
    r->safety = safety;
    r->data = data;
    r->callbacks[safety] = callback;
    return MPI_SUCCESS;
}

int PMPI_T_event_set_dropped_handler(MPI_T_event_registration handle, MPI_T_event_dropped_cb_function *handler)
{
    ((struct registration *)handle)->dropped = handler;
    return MPI_SUCCESS;
}

int PMPI_T_event_handle_free(MPI_T_event_registration handle, void *data, MPI_T_event_free_cb_function *callback)
{
    ((struct registration *)handle)->freed = 1;
    if (callback) callback(handle, MPI_T_CB_REQUIRE_NONE, data);
    return MPI_SUCCESS;
}

int PMPI_T_event_copy(MPI_T_event_instance e, void *to)
{
    const struct instance *i = (const struct instance *)e;
    if (i->type == EVENT_UNREADABLE) abort();
    memcpy(to, i->bytes, sizeof i->bytes);
    return MPI_SUCCESS;
}

int PMPI_T_event_get_timestamp(MPI_T_event_instance e, MPI_Count *time) { return *time = ((struct instance *)e)->time, MPI_SUCCESS; }
int PMPI_T_event_get_source(MPI_T_event_instance e, int *source) { return *source = ((struct instance *)e)->source, MPI_SUCCESS; }

/* As in Open MPI 6.0.0rc2, the strictest level is accepted for some events, but nothing comes of it. */
static MPI_T_event_cb_function *callback_of(const struct registration *r, int safety)
{
    for (int level = safety; level < MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE; level++)
        if (r->callbacks[level]) return r->callbacks[level];
    return safety == MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE ? r->callbacks[MPI_T_CB_REQUIRE_THREAD_SAFE] : NULL;
}

static int muted;
void events_mute(int mute) { muted = mute; }

static void raise_on(int type, long object, int a, double b, int flags)
{
    struct instance e = {.type = type, .source = !!(flags & EVENTS_UNORDERED), .time = now() - (flags & EVENTS_BACK ? 1000000 : 0)};
    long long wide = a;
    if (types[type].type[0] == 2) memcpy(e.bytes, &wide, 8);
    else memcpy(e.bytes, &a, 4), memcpy(e.bytes + 8, &b, 8);
    for (int i = 0; i < registration_count; i++) {
        struct registration *r = &registrations[i];
        if (muted || r->type != type || r->object != object || r->freed && !(flags & EVENTS_FREED)) continue;
        int safety = flags & EVENTS_IN_HANDLER ? MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE : MPI_T_CB_REQUIRE_NONE;
        MPI_T_event_cb_function *callback = callback_of(r, safety);
        if (!callback) continue;
        inside++;
        callback((MPI_T_event_instance)&e, (MPI_T_event_registration)r, safety, r->data);
        inside--;
    }
}

void events_raise(int type, MPI_Comm comm, int a, double b, int flags) { raise_on(type, comm == MPI_COMM_NULL ? 0 : (long)comm, a, b, flags); }
void events_raise_win(MPI_Win win, int a) { raise_on(EVENT_WIN, (long)win, a, 0, 0); }

void events_drop(int type, int count)
{
    for (int i = 0; i < registration_count; i++)
        if (registrations[i].type == type && registrations[i].dropped)
            registrations[i].dropped(count, (MPI_T_event_registration)&registrations[i], 0, MPI_T_CB_REQUIRE_NONE, NULL);
}

int events_safety(int type)
{
    for (int i = 0; i < registration_count; i++)
        if (registrations[i].type == type && registrations[i].data) return registrations[i].safety;
    return -1;
}
