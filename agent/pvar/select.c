/* select.c: selects the variables to sample by the patterns of --pvar. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "pvar/pvar.h"
#include "tools/tally/virtual.h"

#define MAX_VARIABLES 4000
#define MAX_ITEMS 1024

/* ---- patterns ---- */

void pvar_read_patterns(void)
{
    int n = 0;
    while (agent_config("pvar", n)) n++;
    pvar.patterns = memory_new((size_t)n + 1, sizeof *pvar.patterns);
    for (int i = 0; pvar.patterns && i < n; i++) {
        struct pvar_pattern *p = &pvar.patterns[pvar.pattern_count];
        p->text = agent_config("pvar", i);
        if (!pattern_parse(&p->names, p->text)) {
            agent_note("pvar=%s: not a pattern", p->text);
            continue;
        }
        pvar.pattern_count++;
        /* the program has only sessions */
        if (agent_process.sessions && p->names.objects & PATTERN_WORLD) p->names.objects |= PATTERN_ALL;
    }
}

static bool only_virtual(const struct pvar_pattern *p) { return strncmp(p->names.glob, "mpitx:", 6) == 0; }

bool pvar_has_virtual(void)
{
    for (int i = 0; i < pvar.variable_count; i++)
        if (pvar.variables[i]->virtual) return true;
    return false;
}

bool pvar_wants_library(void)
{
    for (int i = 0; i < pvar.pattern_count; i++)
        if (!only_virtual(&pvar.patterns[i])) return true;
    return false;
}

/* Returns the objects for which patterns select a variable; 0: not selected. A star does not match the "/" of one
 * function's share (mpitx:bytes_sent/MPI_Send), as "*" would otherwise select a thousand columns. */
unsigned pvar_wanted(const char *name, int var_class, bool virtual)
{
    unsigned objects = 0;
    const char *share = virtual ? strchr(name, '/') : NULL;
    for (int i = 0; i < pvar.pattern_count; i++) {
        struct pvar_pattern *p = &pvar.patterns[i];
        if (share && !strchr(p->names.glob, '/')) continue;
        if (pattern_match(&p->names, name, var_class)) {
            objects |= p->names.objects;
            p->matched = true;
        }
    }
    return objects;
}

void pvar_matched(const char *start)
{
    for (int i = 0; i < pvar.pattern_count; i++)
        if (strncmp(pvar.patterns[i].names.glob, start, strlen(start)) == 0) pvar.patterns[i].matched = true;
}

/* Only rank 0 suggests names, as the others would suggest the same. */
void pvar_suggest(const char *name)
{
    static char names[3500]; /* under the lock, or at start */
    static size_t used;
    size_t length = name ? strlen(name) : 0;
    if (agent_process.rank > 0 || length >= sizeof names) return;
    if (used && (!name || used + length + 2 > sizeof names)) {
        mpitx_run_note(agent_run, MPITX_RUN_INFO, MPITX_RUN_NOTE_SUGGESTIONS, names);
        used = 0;
    }
    if (name) used += (size_t)snprintf(names + used, sizeof names - used, used ? "\n%s" : "%s", name);
}

/* Suggests names for a literal pattern that matched nothing. */
static void suggest(bool virtual)
{
    static char name[1024];
    struct virtual_info own;
    struct mpitx_pvar_info info;
    for (int i = 0; virtual && i < virtual_count(); i++)
        if (virtual_info(i, &own) && !strchr(own.name, '/')) pvar_suggest(own.name);
    for (int i = 0; !virtual && i < pvar.library_count; i++) {
        int length = sizeof name, none = 0;
        if (pvar.table->pvar_get_info(i, name, &length, NULL, &none, &info) == MPITX_SUCCESS) pvar_suggest(name);
    }
    pvar_suggest(NULL);
}

void pvar_note_unmatched(bool at_end)
{
    /* Variables that the library lists later (MPICH, at the first window) may still match. */
    bool may_grow = !at_end && pvar.library_count > 0, suggested[2] = {false, false};
    for (int i = 0; i < pvar.pattern_count; i++) {
        struct pvar_pattern *p = &pvar.patterns[i];
        bool virtual = only_virtual(p);
        if (p->matched || p->noted) continue;
        if (!at_end && !suggested[virtual] && pattern_is_literal(&p->names)) {
            suggested[virtual] = true;
            suggest(virtual);
        }
        if (may_grow && !virtual) continue;
        p->noted = true;
        agent_report_code(MPITX_RUN_WARNING, MPITX_RUN_NOTE_UNMATCHED, p->text);
    }
}

/* ---- variables ---- */

bool pvar_add(const struct pvar_variable *v)
{
    struct pvar_variable *kept = memory_get(sizeof *kept);
    struct pvar_variable **grown = NULL;
    if (kept && pvar.variable_count < MAX_VARIABLES)
        grown = memory_grow(pvar.variables, ((size_t)pvar.variable_count + 1) * sizeof *grown);
    if (!grown) {
        free(kept);
        return false;
    }
    *kept = *v;
    pvar.variables = grown;
    pvar.variables[pvar.variable_count++] = kept;
    return true;
}

static void select_virtual(void)
{
    for (int i = 0; i < virtual_count(); i++) {
        struct virtual_info info;
        if (!virtual_info(i, &info) || !pvar_wanted(info.name, info.var_class, true)) continue;
        if (virtual_activate(i, true) < 0) {
            agent_report(MPITX_RUN_WARNING, "%s: not sampled: too many variables of mpitx", info.name);
            continue;
        }
        struct pvar_variable v = {.virtual = true, .index = i, .name = memory_text(info.name),
                                  .description = memory_text(info.description ? info.description : ""),
                                  .unit = info.unit, .raw = !info.grows, .var_class = info.var_class,
                                  .datatype = info.datatype, .bind = MPITX_BIND_NO_OBJECT, .continuous = true,
                                  .size = 8, .objects = PATTERN_WORLD, .trial = PVAR_GOOD};
        if (!v.name || !v.description || !pvar_add(&v)) return;
    }
}

static bool distinct_bits(const struct pvar_variable *v)
{
    int64_t seen = 0;
    int bits = 0;
    for (uint32_t i = 0; i < v->item_count; i++) {
        int64_t value = v->items[i].value;
        if (value < 0 || (value & (value - 1)) != 0 || (seen & value) != 0) return false;
        seen |= value;
        bits += value != 0;
    }
    return bits > 2; /* items 0, 1, 2 or 0, 1 are states, not flags */
}

static void read_enum(struct pvar_variable *v, mpitx_handle enumtype)
{
    char name[512] = "";
    int n = 0, length = sizeof name;
    if (pvar.table->enum_get_info(enumtype, &n, name, &length) != MPITX_SUCCESS || n <= 0 || n > MAX_ITEMS) return;
    struct mpitx_run_enum_item *items = memory_new((size_t)n, sizeof *items);
    v->enum_name = memory_text(name);
    for (int i = 0; items && i < n; i++) {
        char item[512] = "";
        int value = 0;
        length = sizeof item;
        if (pvar.table->enum_get_item(enumtype, i, &value, item, &length) != MPITX_SUCCESS) continue;
        if ((items[v->item_count].name = memory_text(item)) != NULL) items[v->item_count++].value = value;
    }
    v->items = items;
    v->enum_flags = distinct_bits(v);
}

static void select_one(int index)
{
    static char name[1024], text[4096]; /* under the lock, or at start */
    int name_length = sizeof name, text_length = sizeof text;
    struct mpitx_pvar_info info = {0};
    name[0] = text[0] = 0;
    if (pvar.table->pvar_get_info(index, name, &name_length, text, &text_length, &info) != MPITX_SUCCESS)
        return; /* unloaded: libraries keep dead indices */
    unsigned objects = pvar_wanted(name, info.var_class, false);
    if (!objects) return;
    for (int i = 0; i < pvar.variable_count; i++) {
        struct pvar_variable *v = pvar.variables[i];
        if (!v->virtual && v->var_class == info.var_class && strcmp(v->name, name) == 0) return;
    }
    struct pvar_variable v = {.index = index, .name = memory_text(name), .description = memory_text(text),
                              .var_class = info.var_class, .datatype = info.datatype, .bind = info.bind, .continuous =
                              info.continuous, .size = mpitx_type_size(info.datatype), .objects = objects};
    if (!v.name || !v.description) return;
    if (!v.size) {
        agent_report(MPITX_RUN_WARNING, "%s: not sampled: unknown datatype", name);
        return;
    }
    if (v.bind < MPITX_BIND_NO_OBJECT || v.bind > MPITX_BIND_MPI_SESSION) {
        agent_report(MPITX_RUN_WARNING, "%s: not sampled: bound to an unknown kind of object", name);
        return;
    }
    if (v.var_class == MPITX_PVAR_CLASS_TIMER && v.datatype == MPITX_TYPE_DOUBLE)
        v.unit = "s"; /* MPI_Wtime's unit, by the standard; other units may only be in the description */
    if (info.enumtype) read_enum(&v, info.enumtype);
    if (!pvar_add(&v)) agent_report(MPITX_RUN_WARNING, "%s: not sampled: too many variables are selected", name);
}

unsigned pvar_binds(void)
{
    unsigned binds = 0;
    for (int i = 0; i < pvar.variable_count; i++)
        if (pvar.variables[i]->trial != PVAR_BAD) binds |= 1u << pvar.variables[i]->bind;
    return binds;
}

void pvar_select(void)
{
    int n = 0;
    if (pvar.variable_count == 0) select_virtual();
    if (!pvar.mpi_t || !pvar_wants_library() || pvar.table->pvar_get_num(&n) != MPITX_SUCCESS) return;
    for (int i = pvar.library_count; i < n; i++) select_one(i);
    if (n > pvar.library_count) pvar.library_count = n;
    for (int i = 0; i < pvar.variable_count; i++) {
        struct pvar_variable *v = pvar.variables[i];
        if (v->bind == MPITX_BIND_MPI_WIN || (v->bind == MPITX_BIND_MPI_COMM && (v->objects & PATTERN_ALL)))
            pvar.follow = true;
    }
}
