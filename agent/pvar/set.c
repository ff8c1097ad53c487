/* set.c: control variables. Those set in the environment (set=) are verified after MPI_Init. Those to be written then
 * (set_after=) are tried in a forked child, written, and read back. Each result goes to the run. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "pvar/pvar.h"

#define MAX_SETTINGS 256
#define MAX_BYTES 65536 /* of a value */
#define TOTAL_MS 10000

struct setting {
    int after;
    char *name, *value; /* as requested */
    bool found;
    struct pvar_cvar cvar;
    char *parsed, *old; /* cvar.count elements; NULL: none */
    const char *result; /* NULL: not known yet */
    char text[160];     /* memory for result */
};

bool pvar_has_settings(void) { return agent_config("set", 0) || agent_config("set_after", 0); }

static int read_settings(struct setting *s)
{
    int n = 0;
    for (int after = 0; after < 2; after++) {
        const char *key = after ? "set_after" : "set";
        for (int i = 0; n < MAX_SETTINGS && agent_config(key, i); i++) {
            char *name = memory_text(agent_config(key, i));
            char *equals = name ? strchr(name, '=') : NULL;
            if (!equals) {
                agent_report(MPITX_RUN_WARNING, "%s=%s: not CVAR=VALUE", key, agent_config(key, i));
                free(name);
                continue;
            }
            *equals = 0;
            s[n++] = (struct setting){.after = after, .name = name, .value = equals + 1};
        }
    }
    return n;
}

/* Compares all names: some libraries lack get_index, and in some it returns a dead index. */
static void find_cvars(struct setting *s, int n)
{
    static char name[1024];
    int cvars = 0;
    pvar.table->cvar_get_num(&cvars);
    for (int i = 0; i < cvars; i++) {
        int length = sizeof name, none = 0;
        struct mpitx_cvar_info info = {0};
        if (pvar.table->cvar_get_info(i, name, &length, NULL, &none, &info) != MPITX_SUCCESS) continue;
        for (int k = 0; k < n; k++) {
            if (s[k].found || strcmp(s[k].name, name) != 0) continue;
            s[k].found = true;
            s[k].cvar = (struct pvar_cvar){.index = i, .datatype = info.datatype, .scope = info.scope,
                                           .bind = info.bind, .size = mpitx_type_size(info.datatype),
                                           .enumtype = info.enumtype};
        }
    }
    for (int k = 0; k < n; k++)
        if (!s[k].found)
            s[k].result = "no such variable";
        else if (s[k].cvar.bind != MPITX_BIND_NO_OBJECT)
            s[k].result = "bound to an object";
        else if (!s[k].cvar.size)
            s[k].result = "unknown datatype";
}

/* Suggests names for settings of unknown variables. */
static void suggest_cvars(const struct setting *s, int n)
{
    static char name[1024];
    int cvars = 0, missing = 0;
    for (int k = 0; k < n; k++) missing += !s[k].found;
    if (missing) pvar.table->cvar_get_num(&cvars);
    for (int i = 0; i < cvars; i++) {
        int length = sizeof name, none = 0;
        struct mpitx_cvar_info info = {0};
        if (pvar.table->cvar_get_info(i, name, &length, NULL, &none, &info) == MPITX_SUCCESS) pvar_suggest(name);
    }
    pvar_suggest(NULL);
}

static void failed(struct setting *s, const char *what)
{
    snprintf(s->text, sizeof s->text, "%s", what);
    s->result = s->text;
}

/* Tries settings without a result in a child: reads them, and writes those with a parsed value that are to be
 * written. */
static void try_settings(struct setting *s, int n, bool write)
{
    struct mpitx_probe probe = {0};
    int which[MAX_SETTINGS], tried = 0;
    for (int k = 0; k < n; k++)
        if (!s[k].result && (!write || s[k].after)) which[tried++] = k;
    if (!tried) return;
    int rc = mpitx_probe_new(&probe, tried, (size_t)3 * (size_t)(tried + 1) * 2 * MAX_BYTES);
    for (int i = 0; rc == MPITX_SUCCESS && i < tried; i++) {
        struct setting *one = &s[which[i]];
        probe.items[i].kind = MPITX_PROBE_CVAR;
        probe.items[i].index = one->cvar.index;
        probe.items[i].new_value = write ? one->parsed : NULL;
        probe.items[i].new_type = one->cvar.datatype;
        probe.items[i].new_bytes = (size_t)one->cvar.count * one->cvar.size;
    }
    struct mpitx_probe_options options = {.trial_writes = write, .total_ms = TOTAL_MS};
    if (rc == MPITX_SUCCESS) rc = pvar_probe_run(&probe, &options, pvar.table);
    for (int i = 0; i < tried; i++) {
        struct setting *one = &s[which[i]];
        struct mpitx_probe_item *it = rc == MPITX_SUCCESS ? &probe.items[i] : NULL;
        if (!it)
            failed(one, "cannot be tried in a child process");
        else if (it->fault)
            failed(one, it->fault == MPITX_FAULT_CRASH ? "crashes in a trial" : it->fault == MPITX_FAULT_TIMEOUT
                   ? "hangs in a trial" : "not tried: no time left");
        else if (it->alloc_rc || it->read_rc)
            failed(one, pvar_rc_name(it->alloc_rc ? it->alloc_rc : it->read_rc));
        else if (it->overrun || it->too_large || (size_t)it->count * one->cvar.size > MAX_BYTES)
            failed(one, "its value has another length than its count");
        else
            one->cvar.count = it->count < 0 ? 1 : it->count;
    }
    mpitx_probe_free(&probe);
}

/* Reads the number of elements without a trial. */
static void count_elements(struct setting *s, int n)
{
    for (int k = 0; k < n; k++) {
        mpitx_handle handle = 0;
        int count = -1;
        if (s[k].result) continue;
        int rc = pvar.table->cvar_handle_alloc(s[k].cvar.index, MPITX_OBJECT_NONE, &handle, &count);
        if (rc == MPITX_SUCCESS) pvar.table->cvar_handle_free(&handle);
        s[k].cvar.count = count < 0 ? 1 : count;
        if (rc != MPITX_SUCCESS)
            failed(&s[k], pvar_rc_name(rc));
        else if ((size_t)s[k].cvar.count > MAX_BYTES / s[k].cvar.size)
            failed(&s[k], "its value has another length than its count");
    }
}

/* MPICH lists enumerations and truth values as plain integers but accepts names in the environment. For an unknown name
 * MPI_Init would have failed, so it accepted this one. */
static bool accepted_by_name(const struct setting *s) { return !s->after && strncmp(s->name, "MPIR_CVAR_", 10) == 0; }

static void parse(struct setting *s)
{
    char why[96] = "out of memory";
    size_t bytes = (size_t)s->cvar.count * s->cvar.size;
    s->parsed = memory_new(1, bytes + 8);
    if (s->parsed && pvar_value_parse(pvar.table, &s->cvar, s->value, s->parsed, why, sizeof why)) return;
    if (s->parsed && accepted_by_name(s)) {
        s->result = "ok";
        free(s->parsed);
        s->parsed = NULL;
        return;
    }
    snprintf(s->text, sizeof s->text, "invalid value: %s", why);
    s->result = s->text;
    free(s->parsed);
    s->parsed = NULL;
}

static bool read_value(mpitx_handle handle, const struct pvar_cvar *v, char *value)
{
    return pvar.table->cvar_read(handle, value) == MPITX_SUCCESS && v->count >= 0;
}

static const char *write_value(struct setting *s, mpitx_handle handle, char *back)
{
    int rc = pvar.table->cvar_write(handle, s->parsed);
    read_value(handle, &s->cvar, back);
    switch (rc) {
    case MPITX_SUCCESS: return pvar_value_equal(&s->cvar, back, s->parsed) ? "ok" : "ok but unchanged";
    case MPITX_ERR_CVAR_SET_NOT_NOW: return "not now";
    case MPITX_ERR_CVAR_SET_NEVER: return "never";
    default: failed(s, pvar_rc_name(rc)); return s->result;
    }
}

/* Reads and writes the variable in this process, and records the result. */
static void apply_setting(struct setting *s)
{
    static char old_text[4096], back_text[4096];
    mpitx_handle handle = 0;
    char *old = NULL, *back = NULL;
    old_text[0] = back_text[0] = 0;
    int count = -1;
    size_t bytes = (size_t)s->cvar.count * s->cvar.size + 4096; /* values may change their length */
    bool open = s->found && s->cvar.count > 0 && s->cvar.bind == MPITX_BIND_NO_OBJECT && s->cvar.size &&
                pvar.table->cvar_handle_alloc(s->cvar.index, MPITX_OBJECT_NONE, &handle, &count) == MPITX_SUCCESS;
    if (open && (count < 0 || count == s->cvar.count) && (old = memory_new(1, bytes)) &&
        (back = memory_new(1, bytes)) && read_value(handle, &s->cvar, old)) {
        pvar_value_print(pvar.table, &s->cvar, old, s->after ? old_text : back_text, sizeof old_text);
        if (s->after && !s->result) {
            s->result = write_value(s, handle, back);
            pvar_value_print(pvar.table, &s->cvar, back, back_text, sizeof back_text);
        } else if (!s->result) {
            s->result = pvar_value_equal(&s->cvar, old, s->parsed) ? "ok" : "another value";
        }
    }
    if (open) pvar.table->cvar_handle_free(&handle);
    mpitx_run_outcome(agent_run, s->after, s->name, s->value, old_text, back_text,
                      s->result ? s->result : "could not be read");
    free(old);
    free(back);
}

void pvar_apply_settings(void)
{
    if (!pvar_has_settings()) return;
    struct setting *s = memory_new(MAX_SETTINGS, sizeof *s);
    int n = s ? read_settings(s) : 0;
    if (n && pvar.mpi_t) {
        find_cvars(s, n);
        suggest_cvars(s, n);
        if (pvar_probes())
            try_settings(s, n, false);
        else
            count_elements(s, n);
        for (int k = 0; k < n; k++)
            if (!s[k].result) parse(&s[k]);
        if (pvar_probes()) try_settings(s, n, true);
    }
    for (int k = 0; k < n; k++) {
        if (!pvar.mpi_t) s[k].result = "MPI_T could not be initialized";
        apply_setting(&s[k]);
        free(s[k].name);
        free(s[k].parsed);
    }
    free(s);
}
