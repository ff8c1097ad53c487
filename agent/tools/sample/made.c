/* made.c: the objects other than communicators and windows that exist, up to a limit.
 *
 * Requests and messages are many and short-lived. An object costs an entry here when it is made; variables are bound
 * to it when the next sample is taken, if it exists until then. A request may end in a call that completes it. While
 * such a call has it, its handles are freed. */
#define _GNU_SOURCE
#include <stdio.h>

#include "tools/sample/sampler.h"

enum {
    MOST = 1024,     /* at a time */
    RECORDED = 2048, /* of a kind in all, as the run has room for 32,000 sets */
    KINDS = MPITX_BIND_MPI_SESSION + 1
};

struct sampler_made {
    struct sampler_made *next; /* in its bucket, or of those not in use */
    struct sampler_made *after; /* in the thread's list of those taken */
    union mpi_handle handle;
    int bind, place;
    const char *how;
    struct pvar_group *group;
    bool waits, bound, taken, found; /* found: it is in its bucket */
    char name[128];
};

static struct sampler_made entries[MOST], *buckets[MOST], *unused;
static int fresh; /* entries never used are from here on */
static AGENT_THREAD struct sampler_made *taken, *last_taken;

static uint64_t recorded[KINDS], brief[KINDS], left_out[KINDS], refused[KINDS];
unsigned sampler_made_waiting;
_Atomic unsigned sampler_made_count;

static struct sampler_made **bucket_of(union mpi_handle handle)
{
    return &buckets[handle.number * UINT64_C(0x9e3779b97f4a7c15) >> 54];
}

struct sampler_made *sampler_made_find(int bind, union mpi_handle handle)
{
    for (struct sampler_made *m = *bucket_of(handle); m; m = m->next)
        if (m->bind == bind && m->handle.number == handle.number) return m;
    return NULL;
}

struct pvar_group *sampler_made_group(struct sampler_made *m) { return m->taken || m->waits ? NULL : m->group; }

static void set_waits(struct sampler_made *m, bool waits)
{
    sampler_made_waiting = sampler_made_waiting + waits - m->waits;
    m->waits = waits;
}

static void forget(struct sampler_made *m)
{
    struct sampler_made **place = bucket_of(m->handle);
    if (!m->found) return;
    while (*place != m) place = &(*place)->next;
    *place = m->next;
    m->found = false;
}

static struct sampler_made *take_entry(void)
{
    struct sampler_made *m = unused;
    if (m)
        unused = m->next;
    else if (fresh < MOST)
        m = &entries[fresh++];
    return m;
}

struct sampler_made *sampler_made_add(int bind, union mpi_handle handle, const char *how, const char *name)
{
    struct sampler_made *m = sampler_made_find(bind, handle);
    if (m && !m->taken) return m; /* another reference to it, as MPI_Comm_group returns */
    if (m) forget(m); /* it has ended in a call of another thread, which has not returned */
    m = recorded[bind] < RECORDED ? take_entry() : NULL;
    if (!m) {
        left_out[bind]++;
        return NULL;
    }
    struct sampler_made **bucket = bucket_of(handle);
    *m = (struct sampler_made){.next = *bucket, .handle = handle, .bind = bind, .how = how, .found = true};
    if (name) snprintf(m->name, sizeof m->name, "%s", name);
    *bucket = m;
    set_waits(m, true);
    sampler_made_count++;
    return m;
}

void sampler_made_name(struct sampler_made *m, const char *name)
{
    snprintf(m->name, sizeof m->name, "%s", name);
    if (!m->group) return;
    struct pvar_object *object = &m->group->objects[0];
    snprintf(object->facts.name, sizeof object->facts.name, "%s", name);
    if (m->group->declared) mpitx_run_object_name(agent_run, object->id, name);
}

void sampler_made_end(struct sampler_made *m)
{
    if (m->taken) { /* by another thread, in a wrong program */
        forget(m);
        return;
    }
    if (!m->bound) brief[m->bind]++;
    set_waits(m, false);
    if (m->group) pvar_group_free(m->group);
    forget(m);
    m->next = unused;
    unused = m;
    sampler_made_count--;
}

static void bind_one(struct sampler_made *m)
{
    set_waits(m, false);
    if (m->group) {
        pvar_group_resume(m->group);
        return;
    }
    m->bound = true;
    if (recorded[m->bind] == RECORDED) {
        left_out[m->bind]++;
        return;
    }
    m->group = pvar_group_later(m->bind, m->handle, m->how, m->name);
    if (m->group)
        recorded[m->bind]++;
    else
        refused[m->bind]++;
}

void sampler_made_bind(void)
{
    for (int i = 0; i < fresh && sampler_made_waiting; i++)
        if (entries[i].waits) bind_one(&entries[i]);
}

/* Those that are bound stay, unbound, until they end. */
void sampler_made_world_ends(void)
{
    for (int i = 0; i < fresh; i++)
        if (entries[i].waits) sampler_made_end(&entries[i]);
}

/* ---- requests ---- */

bool sampler_made_took(void) { return taken != NULL; }

/* Ends those of a call that was left by longjmp, or has called the callback that makes this one. */
void sampler_made_takes(int place)
{
    if (!taken || place > last_taken->place) return;
    for (struct sampler_made *m = taken, *after; m; m = after) {
        after = m->after;
        m->taken = false;
        sampler_made_end(m);
    }
    taken = NULL;
}

void sampler_made_take(struct sampler_made *m, int place)
{
    if (m->taken) return;
    if (m->group && !m->waits) pvar_group_suspend(m->group);
    set_waits(m, false);
    m->taken = true;
    m->place = place;
    m->after = NULL;
    *(taken ? &last_taken->after : &taken) = m;
    last_taken = m;
}

void sampler_made_leave(union mpi_handle now, int place)
{
    struct sampler_made *m = taken;
    if (!m || m->place != place) return;
    taken = m->after;
    m->taken = false;
    if (m->found && m->handle.number == now.number)
        set_waits(m, m->group || !m->bound);
    else
        sampler_made_end(m);
}

/* ---- the end ---- */

static const char *plural(int bind)
{
    static const char *const words[KINDS] = {
        [MPITX_BIND_MPI_DATATYPE] = "datatypes", [MPITX_BIND_MPI_ERRHANDLER] = "error handlers",
        [MPITX_BIND_MPI_FILE] = "files", [MPITX_BIND_MPI_GROUP] = "groups", [MPITX_BIND_MPI_OP] = "operations",
        [MPITX_BIND_MPI_REQUEST] = "requests", [MPITX_BIND_MPI_MESSAGE] = "matched messages",
        [MPITX_BIND_MPI_INFO] = "info objects", [MPITX_BIND_MPI_SESSION] = "sessions"};
    return words[bind];
}

static void report(const uint64_t *counts, int bind, const char *why)
{
    char text[240];
    snprintf(text, sizeof text, "up to %llu %s are not in the run: %s",
             (unsigned long long)sampler_round_up(counts[bind]), plural(bind), why);
    if (counts[bind]) agent_report(MPITX_RUN_WARNING, "%s", text);
}

void sampler_made_report(void)
{
    char limits[96];
    snprintf(limits, sizeof limits, "the agent follows at most %d objects at a time, and records %d of a kind", MOST,
             RECORDED);
    for (int bind = MPITX_BIND_MPI_DATATYPE; bind < KINDS; bind++) {
        report(brief, bind, "they ended before the next sample was taken");
        report(left_out, bind, limits);
        report(refused, bind, "the library binds none of the variables to them");
    }
}
