/* probe.c: tries variables in forked children (../probe.c) inside an application, without side effects on it. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "pvar/pvar.h"

#define LIMIT_MS 1000  /* for one call of the library */
#define TOTAL_MS 15000 /* for all calls, as the application's MPI_Init waits */
#define DATA (24u << 20) /* address space only */

/* ---- when variables are tried ---- */

enum probe { PROBE_START, PROBE_LATE, PROBE_NONE };

static enum probe when(void)
{
    const char *text = agent_config("probe", 0);
    if (text && strcmp(text, "late") == 0) return PROBE_LATE;
    return text && strcmp(text, "none") == 0 ? PROBE_NONE : PROBE_START;
}

void (*pvar_in_child)(void);

bool pvar_probes(void) { return when() != PROBE_NONE; }

int pvar_probe_run(struct mpitx_probe *probe, const struct mpitx_probe_options *options,
                   const struct mpitx_table *table)
{
    struct mpitx_probe_options with = *options;
    int saved = errno;
    with.limit_ms = LIMIT_MS;
    with.in_child = pvar_in_child;
    int rc = mpitx_probe_run(probe, table, &with);
    mpitx_probe_wait(probe);
    errno = saved;
    return rc;
}

/* ---- variables ---- */

/* The object to try variables with, as the table binds only to MPI_COMM_WORLD and MPI_COMM_SELF. */
static struct pvar_object trial;

static int trial_alloc(mpitx_handle session, int index, int object, mpitx_handle *handle, int *count)
{
    if (object == MPITX_OBJECT_NONE) return pvar.table->pvar_handle_alloc(session, index, object, handle, count);
    return mpitx_pvar_bind(session, index, &trial.handle, handle, count);
}

/* Makes the probe bind variables of all kinds of objects like those of communicators. */
static int trial_info(int index, char *name, int *name_len, char *desc, int *desc_len, struct mpitx_pvar_info *info)
{
    int rc = pvar.table->pvar_get_info(index, name, name_len, desc, desc_len, info);
    if (rc == MPITX_SUCCESS && info->bind != MPITX_BIND_NO_OBJECT) info->bind = MPITX_BIND_MPI_COMM;
    return rc;
}

static const char *step_of(const struct mpitx_probe_item *it)
{
    switch (it->fault_step) {
    case MPITX_STEP_INFO: return "MPI_T_pvar_get_info";
    case MPITX_STEP_ENUM: return "MPI_T_enum_get_item";
    case MPITX_STEP_ALLOC: return "MPI_T_pvar_handle_alloc";
    case MPITX_STEP_START: return "MPI_T_pvar_start";
    case MPITX_STEP_READ: return "MPI_T_pvar_read";
    default: return "MPI_T"; /* before the first call, or after the last */
    }
}

static void apply_result(struct pvar_variable *v, const struct mpitx_probe_item *it)
{
    v->trial = PVAR_BAD;
    if (it->fault || it->overrun)
        agent_report_code(MPITX_RUN_WARNING, MPITX_RUN_NOTE_FAULTY, v->name);
    else if (it->info_rc != MPITX_SUCCESS || it->alloc_rc != MPITX_SUCCESS)
        agent_report(MPITX_RUN_WARNING, "%s: not sampled: %s", v->name,
                     pvar_rc_name(it->info_rc != MPITX_SUCCESS ? it->info_rc : it->alloc_rc));
    else if (it->too_large || it->count == 0)
        agent_report(MPITX_RUN_INFO, "%s: not sampled: it has %s", v->name,
                     it->count == 0 ? "no elements" : "too many elements");
    else
        v->trial = PVAR_GOOD;
}

/* Reports the faults. Variables often crash in groups, so there is one line for each kind of fault. */
static void report_faults(struct pvar_variable **chosen, const struct mpitx_probe_item *items, int n)
{
    for (int i = 0; i < n; i++) {
        int same = 0;
        bool reported = false;
        if (!items[i].fault && !items[i].overrun) continue;
        for (int k = 0; k < n; k++)
            if (items[k].fault == items[i].fault && items[k].fault_step == items[i].fault_step &&
                items[k].overrun == items[i].overrun) {
                same++;
                reported = reported || k < i;
            }
        if (reported) continue;
        const char *what = items[i].fault == MPITX_FAULT_CRASH     ? "crashes"
                           : items[i].fault == MPITX_FAULT_TIMEOUT ? "hangs"
                           : items[i].fault                        ? "was not reached in time"
                                                                   : "writes past the end of the value";
        char more[32] = "";
        if (same > 1) snprintf(more, sizeof more, " and %d more", same - 1);
        agent_report(MPITX_RUN_INFO, "%s%s: not sampled: the library %s in %s (tried in a child process)",
                     chosen[i]->name, more, what, items[i].fault ? step_of(&items[i]) : "MPI_T_pvar_read");
    }
}

/* Skips variables that appeared late. Trying them would copy a process that may be large by now, so users have to ask.
 * One report for each kind of object. */
static void skip_late(struct pvar_variable **chosen, int n)
{
    static unsigned reported;
    char more[32] = "", why[64] = "first listed after MPI_Init";
    int bind = chosen[0]->bind;
    for (int i = 0; i < n; i++) chosen[i]->trial = PVAR_BAD;
    if (n > 1) snprintf(more, sizeof more, " and %d more", n - 1);
    if (bind != MPITX_BIND_NO_OBJECT) snprintf(why, sizeof why, "it needs %s", pvar_object_word(bind));
    if (!(reported & 1u << bind))
        agent_report(MPITX_RUN_WARNING,
                     "%s%s: not sampled: %s, and not tried; use --probe late to try it then, "
                     "or --no-probe to read it untried", chosen[0]->name, more, why);
    reported |= 1u << bind;
}

static void try_all(struct pvar_variable **chosen, int n, const struct pvar_object *object)
{
    struct mpitx_probe probe = {0};
    int rc = mpitx_probe_new(&probe, n, DATA);
    if (rc == MPITX_SUCCESS) {
        struct mpitx_table table = *pvar.table;
        struct mpitx_probe_options options = {.object = MPITX_OBJECT_COMM_WORLD, .total_ms = TOTAL_MS};
        table.pvar_handle_alloc = trial_alloc;
        table.pvar_get_info = trial_info;
        trial = *object;
        for (int i = 0; i < n; i++) {
            probe.items[i].kind = MPITX_PROBE_PVAR;
            probe.items[i].index = chosen[i]->index;
        }
        rc = pvar_probe_run(&probe, &options, &table);
    }
    for (int i = 0; i < n; i++) {
        if (rc == MPITX_SUCCESS)
            apply_result(chosen[i], &probe.items[i]);
        else
            chosen[i]->trial = PVAR_BAD;
    }
    if (rc == MPITX_SUCCESS) report_faults(chosen, probe.items, n);
    mpitx_probe_free(&probe);
    if (rc != MPITX_SUCCESS)
        agent_report(MPITX_RUN_SEVERE, "the library's variables are not sampled: cannot try them in a child process");
}

void pvar_try_new(const struct pvar_object *object)
{
    int n = 0;
    struct pvar_variable **chosen = memory_new((size_t)pvar.variable_count + 1, sizeof *chosen);
    for (int i = 0; chosen && i < pvar.variable_count; i++) {
        struct pvar_variable *v = pvar.variables[i];
        if (v->trial == PVAR_UNTRIED && (v->bind == MPITX_BIND_NO_OBJECT || v->bind == object->bind)) chosen[n++] = v;
    }
    static bool had_communicator;
    bool communicator = object->bind == MPITX_BIND_MPI_COMM;
    bool late = pvar.started && (had_communicator || !communicator); /* with sessions, it starts with its first one */
    had_communicator |= communicator;
    if (n > 0 && when() == PROBE_NONE)
        for (int i = 0; i < n; i++) chosen[i]->trial = PVAR_GOOD; /* as requested */
    else if (n > 0 && late && when() == PROBE_START)
        skip_late(chosen, n);
    else if (n > 0)
        try_all(chosen, n, object);
    free(chosen);
}
