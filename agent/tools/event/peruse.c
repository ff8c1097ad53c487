/* peruse.c: events of PERUSE 2.0, for libraries that have it. Each event is registered for each communicator.
 *
 * Open MPI has one place for each communicator and event, so if the application registers the same event, its handle
 * reports to us, too (application.c). Ours are registered when the communicator is made, so the only handle that they
 * could replace is one of the application's that was propagated to a duplicate. That one reports to us as well. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "mpi/peers.h"
#include "run/fields.h"
#include "tools/event/peruse.h"

enum { PERUSE_EVENTS = 256 };

static const struct mpitx_run_field event_fields[] = {
    NUMBER("request", U64), NAMED("event"), NUMBER("object", U32), NUMBER("peer", I32), NUMBER("peer_in_comm", I32),
    NUMBER("tag", I32), NUMBER("count", I32), NUMBER("datatype", U32), NUMBER("operation", U32),
};

static const struct mpitx_run_field row_fields[] = {
    NAMED("name"), NUMBER("received", U64), NUMBER("recorded", U64), NUMBER("refused", U64),
};

static struct peruse_type types[PERUSE_EVENTS];
static int type_count;

static struct peruse_comm *comms;
pthread_mutex_t peruse_lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- callbacks ---- */

static int happened(mpitx_handle event, intptr_t unique_id, const struct mpitx_peruse_spec *spec, void *param)
{
    (void)event;
    peruse_record(param, unique_id, spec);
    return 0;
}

/* ---- selection ---- */

static bool declare(void)
{
    uint32_t bytes = 0, row_bytes = 0;
    int run_type = mpitx_run_declare_event(agent_run, "peruse", event_fields, COUNT(event_fields), &bytes);
    int table = mpitx_run_declare_table(agent_run, "peruse events", row_fields, COUNT(row_fields), 1, &row_bytes);
    for (int i = 0; i < type_count && table >= 0; i++) {
        struct peruse_row row = {.name = types[i].name};
        types[i].run_type = run_type;
        if (!(types[i].row = (struct peruse_row *)mpitx_run_row(agent_run, table, &row))) return false;
    }
    return run_type >= 0 && table >= 0 && bytes == sizeof(struct peruse_event) &&
           row_bytes == sizeof(struct peruse_row);
}

bool event_peruse_select(void)
{
    int n = 0, *numbers = NULL;
    char **names = NULL;
    if (pvar.table->peruse_init() != MPITX_SUCCESS ||
        pvar.table->peruse_query_supported_events(&n, &names, &numbers) != MPITX_SUCCESS || n <= 0 || !names ||
        !numbers)
        return false;
    for (int i = 0; i < n && type_count < PERUSE_EVENTS; i++) {
        int text = names[i] && event_matches_peruse(names[i]) ? mpitx_run_declare_text(agent_run, names[i]) : -1;
        if (text >= 0) types[type_count++] = (struct peruse_type){.number = numbers[i], .name = (uint32_t)text};
    }
    for (int i = 0; i < n && event_suggests(); i++)
        if (names[i]) pvar_suggest(names[i]);
    if (type_count > 0 && !declare()) {
        agent_note("no PERUSE events: no room in the run");
        type_count = 0;
    }
    return type_count > 0;
}

/* ---- communicators ---- */

/* Memory for a communicator, kept from one that was freed if there is one. */
static struct peruse_comm *find_free(void)
{
    for (struct peruse_comm *c = comms; c; c = c->next)
        if (!c->bound) return c;
    struct peruse_comm *c = memory_new(1, sizeof *c + (size_t)type_count * sizeof *c->bindings);
    if (!c) return NULL;
    c->next = comms;
    return comms = c;
}

struct peruse_binding *peruse_find(int event, uint64_t comm)
{
    for (struct peruse_comm *c = comms; c; c = c->next)
        for (int i = 0; c->bound && c->handle == comm && i < type_count; i++)
            if (types[i].number == event && (c->bindings[i].event || c->bindings[i].carrier)) return &c->bindings[i];
    return NULL;
}

void peruse_give_up(struct peruse_binding *b)
{
    if (!b->event) return;
    pvar.table->peruse_event_deactivate(b->event);
    pvar.table->peruse_event_release(&b->event);
    b->event = 0;
}

int peruse_take(struct peruse_binding *b)
{
    union mpi_handle handle = {.number = b->comm->handle};
    int rc = mpitx_peruse_bind(b->type->number, &handle, happened, b, &b->event);
    return rc == MPITX_SUCCESS ? pvar.table->peruse_event_activate(b->event) : rc;
}

/* Returns an error code. */
static int bind_one(struct peruse_binding *b, uint64_t original)
{
    const struct peruse_binding *of = original ? peruse_find(b->type->number, original) : NULL;
    return of && of->carrier && peruse_propagate(of->carrier, b) ? MPITX_SUCCESS : peruse_take(b);
}

void event_peruse_bind(union mpi_handle handle, uint32_t object, union mpi_handle original)
{
    int saved = errno, rc = MPITX_SUCCESS;
    struct object_facts facts = object_ask(CALL_COMM, handle, epochs_now(handle.number), true);
    struct hold hold = hold_lock(&peruse_lock);
    struct peruse_comm *c = find_free();
    if (c) {
        int32_t *old = c->ranks;
        c->handle = handle.number;
        c->object = object;
        c->size = facts.peers;
        c->ranks = facts.ranks;
        c->bound = true;
        free(old);
        for (int i = 0; i < type_count && rc == MPITX_SUCCESS; i++) {
            c->bindings[i] = (struct peruse_binding){.comm = c, .type = &types[i]};
            rc = bind_one(&c->bindings[i], original.number);
        }
    }
    hold_unlock(&peruse_lock, hold);
    if (!c || rc != MPITX_SUCCESS)
        agent_report(MPITX_RUN_WARNING, "PERUSE events of a communicator are not recorded: %s",
                     c ? pvar_rc_name(rc) : "out of memory");
    errno = saved;
}

static void release(struct peruse_comm *c)
{
    for (int i = 0; i < type_count; i++) {
        peruse_give_up(&c->bindings[i]);
        peruse_detach(&c->bindings[i]);
    }
    c->bound = false;
}

void event_peruse_unbind(union mpi_handle handle)
{
    int saved = errno;
    struct hold hold = hold_lock(&peruse_lock);
    for (struct peruse_comm *c = comms; c; c = c->next)
        if (c->bound && (!handle.number || c->handle == handle.number)) release(c);
    hold_unlock(&peruse_lock, hold);
    errno = saved;
}
