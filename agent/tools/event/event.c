/* event.c: the tool: configuration, start and end. */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "mpi/peers.h"
#include "tools/event/event.h"
#include "tools/objects/objects.h"

#define CALLBACKS_NS UINT64_C(100000000)

static bool eventless, prepared, peruse, following; /* the library has MPI_T events; PERUSE events are recorded */

static void preparing(void)
{
    if (!event_wanted()) return;
    int saved = errno;
    event_read_patterns();
    agent_run_options.dir = agent_config("dir", 0);
    if (!pvar.table) pvar_open();
    bool has = pvar.table && pvar.table->has("MPI_T_event_get_num");
    prepared = has && pvar_init_mpi_t("no MPI_T events");
    peruse = pvar.table && pvar.table->has("PERUSE_Init");
    eventless = !has && !peruse;
    errno = saved;
}

static void bind_object(int bind, enum call_object kind, union mpi_handle handle, union mpi_handle original)
{
    uint32_t id = objects_at(kind, handle.number, epochs_now(handle.number), true);
    if (prepared) {
        event_try_new(bind, handle, true);
        event_bind(bind, handle, id);
    }
    if (peruse && kind == CALL_COMM) event_peruse_bind(handle, id, original);
}

/* The run's streams are released at the end of threads that called MPI. */
static const struct chain_observer observer = {.name = "event", .thread_end = event_thread_end};

static void select_types(void)
{
    if (prepared) prepared = event_declare() && event_sources_declare();
    if (prepared) event_select();
    if (peruse) peruse = event_peruse_select();
    event_note_unmatched(prepared);
    prepared = prepared && event_type_count > 0;
}

static void started(void)
{
    union mpi_handle none = {.number = 0}, world = {.number = agent_process.world},
                            self = {.number = agent_process.self};
    if (!event_wanted() || !agent_run) return;
    int saved = errno;
    event_declare_patterns();
    if (!(prepared || peruse)) {
        if (eventless) event_note_unmatched(false);
        errno = saved;
        return;
    }
    select_types();
    if (prepared || peruse) {
        chain_observe(&observer, chain_function_id("MPI_Finalize"), CHAIN_LEAVE);
        atomic_store(&event_run, agent_run);
    }
    if (prepared) {
        event_sources_begin();
        event_try_new(MPITX_BIND_NO_OBJECT, none, false);
        event_bind(MPITX_BIND_NO_OBJECT, none, 0);
    }
    following = peruse;
    for (int i = 0; prepared && i < event_type_count; i++)
        following = following || event_types[i].bind != MPITX_BIND_NO_OBJECT;
    if (following) {
        objects_start();
        chain_follow_objects(true);
        if (agent_process.sessions) world = self = none; /* the library would use them without MPI_Init */
        if (world.number) bind_object(MPITX_BIND_MPI_COMM, CALL_COMM, world, none);
        if (self.number) bind_object(MPITX_BIND_MPI_COMM, CALL_COMM, self, none);
    }
    errno = saved;
}

/* The communicator that this one is a duplicate of. */
static union mpi_handle original(const struct chain_object *o)
{
    return o->kind == CALL_COMM && strstr(o->text, "dup") ? o->parent : (union mpi_handle){.number = 0};
}

static int bind_of(enum call_object kind)
{
    return kind == CALL_WIN ? MPITX_BIND_MPI_WIN : kind == CALL_FILE ? MPITX_BIND_MPI_FILE : MPITX_BIND_MPI_COMM;
}

static void object(const struct chain_object *o)
{
    if (!following || !atomic_load(&event_run)) return;
    if (o->event == CHAIN_OBJECT_MADE && !object_is_null(o->kind, o->handle))
        bind_object(bind_of(o->kind), o->kind, o->handle, original(o));
    if (o->event != CHAIN_OBJECT_FREEING) {
        mpitx_run_flush(agent_run); /* so that callbacks find declarations sealed */
        return;
    }
    if (prepared) event_unbind(bind_of(o->kind), o->handle);
    if (peruse && o->kind == CALL_COMM) event_peruse_unbind(o->handle);
}

/* The library may be called only at a regular end: a thread that crashed may hold the library's locks. */
static void ending(enum agent_end end)
{
    const struct timespec pause = {0, 200000};
    if (!atomic_load(&event_run)) return;
    if (following) chain_follow_objects(false);
    if (end == AGENT_FINALIZE) {
        if (prepared) {
            event_unbind_all();
            event_sources_end();
        }
        if (peruse) event_peruse_unbind((union mpi_handle){.number = 0});
    }
    atomic_store(&event_run, NULL);
    for (uint64_t start = clock_monotonic(); atomic_load(&event_inside) && clock_monotonic() - start < CALLBACKS_NS;)
        syscall(SYS_nanosleep, &pause, NULL); /* the C library's nanosleep is a cancellation point */
    if (atomic_load(&event_inside)) pvar.busy = agent_run_busy = true;
}

static void forked(void) { atomic_store(&event_run, NULL); }

static const char *const keys[] = {"event", "event_count", NULL};

const struct agent_tool event_tool = {
    .name = "event", .keys = keys, .preparing = preparing, .started = started, .object = object, .ending = ending,
            .forked = forked};
