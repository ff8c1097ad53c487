/* select.c: which variables are sampled: the patterns of --pvar against what the library and the agent offer. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "pvar/pvar.h"
#include "tools/tally/virtual.h"

#define MOST_VARIABLES 4000
#define MOST_ITEMS 1024

/* ---- patterns ---- */

static unsigned char lower(char c) { return c >= 'A' && c <= 'Z' ? (unsigned char)(c - 'A' + 'a') : (unsigned char)c; }

/* The length of the set at p ("[a-z]"), 0 where it does not end; *in says whether c is in it. */
static size_t glob_set(const char *p, unsigned char c, bool *in)
{
    size_t i = 1;
    bool negated = p[i] == '!' || p[i] == '^', found = false;
    if (negated)
        i++;
    for (size_t start = i; p[i]; i++) {
        if (p[i] == ']' && i > start) {
            *in = found != negated;
            return i + 1;
        }
        unsigned char low = lower(p[i]), high = low;
        if (p[i + 1] == '-' && p[i + 2] && p[i + 2] != ']')
            high = lower(p[i += 2]);
        found = found || (low <= c && c <= high);
    }
    return 0;
}

/* The length of the pattern's first part when it matches c, else 0. */
static size_t glob_one(const char *p, unsigned char c)
{
    bool in;
    if (*p == '?')
        return 1;
    size_t set = *p == '[' ? glob_set(p, c, &in) : 0;
    if (set)
        return in ? set : 0;
    if (*p == '\\' && p[1])
        return lower(p[1]) == c ? 2 : 0;
    return lower(*p) == c ? 1 : 0;
}

/* As catalog/glob.go: whole names, in any case; after a mismatch only the last star moves on. */
bool pvar_glob(const char *pattern, const char *name)
{
    const char *star = NULL, *mark = NULL, *p = pattern, *s = name;
    if (strcmp(pattern, name) == 0)
        return true;
    while (*s) {
        size_t n;
        if (*p == '*') {
            star = ++p;
            mark = s;
        } else if (*p && (n = glob_one(p, lower(*s))) > 0) {
            p += n;
            s++;
        } else if (star) {
            p = star;
            s = ++mark;
        } else {
            return false;
        }
    }
    while (*p == '*')
        p++;
    return *p == 0;
}

static const char *const class_names[] = {NULL, "state", "level", "size", "percentage", "highwatermark",
                                          "lowwatermark", "counter", "aggregate", "timer", "generic"};
#define CLASSES (int)(sizeof class_names / sizeof *class_names)

/* Cuts "@world" and the like, then ":counter", off the end of a pattern. Names may contain both characters. */
static bool parse_pattern(struct pvar_pattern *p, const char *text)
{
    static const struct { const char *name; unsigned objects; } wheres[] = {
        {"world", PVAR_WORLD}, {"self", PVAR_SELF}, {"all", PVAR_WORLD | PVAR_SELF | PVAR_ALL}};
    *p = (struct pvar_pattern){.text = text, .glob = strdup(text), .objects = PVAR_WORLD};
    if (!p->glob)
        return false;
    char *at = strrchr(p->glob, '@');
    for (size_t i = 0; at && i < sizeof wheres / sizeof *wheres; i++)
        if (strcasecmp(at + 1, wheres[i].name) == 0) {
            p->objects = wheres[i].objects;
            *at = 0;
            break;
        }
    char *colon = strrchr(p->glob, ':');
    for (int i = 1; colon && i < CLASSES; i++)
        if (strcasecmp(colon + 1, class_names[i]) == 0) {
            p->var_class = i;
            *colon = 0;
            break;
        }
    return *p->glob != 0;
}

void pvar_read_patterns(void)
{
    int n = 0;
    while (agent_config("pvar", n))
        n++;
    pvar.patterns = calloc((size_t)n + 1, sizeof *pvar.patterns);
    for (int i = 0; pvar.patterns && i < n; i++)
        if (parse_pattern(&pvar.patterns[pvar.pattern_count], agent_config("pvar", i)))
            pvar.pattern_count++;
}

static bool only_virtual(const struct pvar_pattern *p) { return strncmp(p->glob, "mpitx:", 6) == 0; }

bool pvar_has_own(void)
{
    for (int i = 0; i < pvar.variable_count; i++)
        if (pvar.variables[i]->virtual)
            return true;
    return false;
}

bool pvar_wants_library(void)
{
    for (int i = 0; i < pvar.pattern_count; i++)
        if (!only_virtual(&pvar.patterns[i]))
            return true;
    return false;
}

/* The objects that the patterns want a variable for; 0: it is not selected. A star does not reach over the "/" of one
 * function's share (mpitx:bytes_sent/MPI_Send): else "*" would mean a thousand columns. */
static unsigned wanted(const char *name, int var_class, bool virtual)
{
    unsigned objects = 0;
    const char *share = virtual ? strchr(name, '/') : NULL;
    for (int i = 0; i < pvar.pattern_count; i++) {
        struct pvar_pattern *p = &pvar.patterns[i];
        if (p->var_class && p->var_class != var_class)
            continue;
        if (share && !strchr(p->glob, '/'))
            continue;
        if (pvar_glob(p->glob, name)) {
            objects |= p->objects;
            p->matched = true;
        }
    }
    return objects;
}

/* Only on rank 0: elsewhere the same is missing, or it is there. */
void pvar_offer(const char *name)
{
    static char names[3500]; /* under the lock, or at start */
    static size_t used;
    size_t length = name ? strlen(name) : 0;
    if (agent_process.rank > 0 || length >= sizeof names)
        return;
    if (used && (!name || used + length + 2 > sizeof names)) {
        mpitx_run_note(agent_run, MPITX_RUN_INFO, MPITX_RUN_NOTE_OFFERED, names);
        used = 0;
    }
    if (name)
        used += (size_t)snprintf(names + used, sizeof names - used, used ? "\n%s" : "%s", name);
}

/* Names for a pattern that is one and matched nothing. */
static void offer(bool virtual)
{
    static char name[1024];
    struct virtual_info own;
    struct mpitx_pvar_info info;
    for (int i = 0; virtual && i < virtual_count(); i++)
        if (virtual_info(i, &own) && !strchr(own.name, '/'))
            pvar_offer(own.name);
    for (int i = 0; !virtual && i < pvar.library_count; i++) {
        int length = sizeof name, none = 0;
        if (pvar.table->pvar_get_info(i, name, &length, NULL, &none, &info) == MPITX_SUCCESS)
            pvar_offer(name);
    }
    pvar_offer(NULL);
}

void pvar_note_unmatched(bool at_end)
{
    /* What a library lists later (MPICH, at the first window) may still match. */
    bool may_grow = !at_end && pvar.library_count > 0, offered[2] = {false, false};
    for (int i = 0; i < pvar.pattern_count; i++) {
        struct pvar_pattern *p = &pvar.patterns[i];
        bool virtual = only_virtual(p);
        if (p->matched || p->noted)
            continue;
        if (!at_end && !offered[virtual] && !strpbrk(p->glob, "*?[")) {
            offered[virtual] = true;
            offer(virtual);
        }
        if (may_grow && !virtual)
            continue;
        p->noted = true;
        agent_tell_code(MPITX_RUN_WARNING, MPITX_RUN_NOTE_UNMATCHED, p->text);
    }
}

/* ---- variables ---- */

static bool add(const struct pvar_variable *v)
{
    struct pvar_variable *kept = malloc(sizeof *kept);
    struct pvar_variable **grown = NULL;
    if (kept && pvar.variable_count < MOST_VARIABLES)
        grown = realloc(pvar.variables, ((size_t)pvar.variable_count + 1) * sizeof *grown);
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
        if (!virtual_info(i, &info) || !wanted(info.name, info.var_class, true))
            continue;
        if (virtual_activate(i, true) < 0) {
            agent_tell(MPITX_RUN_WARNING, "%s: the agent has no room to count it", info.name);
            continue;
        }
        struct pvar_variable v = {.virtual = true, .index = i, .name = strdup(info.name), .description = strdup(info.description ? info.description : ""),
                                     .unit = info.unit, .raw = !info.grows, .var_class = info.var_class, .datatype = info.datatype, .bind = MPITX_BIND_NO_OBJECT,
                                     .continuous = true, .size = 8, .objects = PVAR_WORLD, .proof = PVAR_GOOD};
        if (!v.name || !v.description || !add(&v))
            return;
    }
}

static bool distinct_bits(const struct pvar_variable *v)
{
    int64_t seen = 0;
    int bits = 0;
    for (uint32_t i = 0; i < v->item_count; i++) {
        int64_t value = v->items[i].value;
        if (value < 0 || (value & (value - 1)) != 0 || (seen & value) != 0)
            return false;
        seen |= value;
        bits += value != 0;
    }
    return bits > 2; /* 0, 1, 2 and 0, 1 are states */
}

static void read_enum(struct pvar_variable *v, mpitx_handle enumtype)
{
    char name[512] = "";
    int n = 0, length = sizeof name;
    if (pvar.table->enum_get_info(enumtype, &n, name, &length) != MPITX_SUCCESS || n <= 0 || n > MOST_ITEMS)
        return;
    struct mpitx_run_enum_item *items = calloc((size_t)n, sizeof *items);
    v->enum_name = strdup(name);
    for (int i = 0; items && i < n; i++) {
        char item[512] = "";
        int value = 0;
        length = sizeof item;
        if (pvar.table->enum_get_item(enumtype, i, &value, item, &length) != MPITX_SUCCESS)
            continue;
        if ((items[v->item_count].name = strdup(item)) != NULL)
            items[v->item_count++].value = value;
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
        return; /* gone: libraries keep dead indices */
    unsigned objects = wanted(name, info.var_class, false);
    if (!objects)
        return;
    for (int i = 0; i < pvar.variable_count; i++) {
        struct pvar_variable *v = pvar.variables[i];
        if (!v->virtual && v->var_class == info.var_class && strcmp(v->name, name) == 0)
            return;
    }
    struct pvar_variable v = {.index = index, .name = strdup(name), .description = strdup(text), .var_class = info.var_class,
                                 .datatype = info.datatype, .bind = info.bind, .continuous = info.continuous,
                                 .size = mpitx_type_size(info.datatype), .objects = objects};
    if (!v.name || !v.description)
        return;
    if (!v.size) {
        agent_tell(MPITX_RUN_WARNING, "%s: is of a datatype that mpitx does not know: not sampled", name);
        return;
    }
    if (v.bind != MPITX_BIND_NO_OBJECT && v.bind != MPITX_BIND_MPI_COMM && v.bind != MPITX_BIND_MPI_WIN) {
        agent_tell(MPITX_RUN_WARNING, "%s: is bound to objects other than communicators and windows: not sampled", name);
        return;
    }
    if (v.var_class == MPITX_PVAR_CLASS_TIMER && v.datatype == MPITX_TYPE_DOUBLE)
        v.unit = "s"; /* MPI_Wtime's, by the standard; of others only the description may say it */
    if (info.enumtype)
        read_enum(&v, info.enumtype);
    if (!add(&v))
        agent_tell(MPITX_RUN_WARNING, "%s: too many variables are selected: not sampled", name);
}

void pvar_select(void)
{
    int n = 0;
    if (pvar.variable_count == 0)
        select_virtual();
    if (!pvar.mpi_t || !pvar_wants_library() || pvar.table->pvar_get_num(&n) != MPITX_SUCCESS)
        return;
    for (int i = pvar.library_count; i < n; i++)
        select_one(i);
    if (n > pvar.library_count)
        pvar.library_count = n;
    for (int i = 0; i < pvar.variable_count; i++) {
        struct pvar_variable *v = pvar.variables[i];
        if (v->bind == MPITX_BIND_MPI_WIN || (v->bind == MPITX_BIND_MPI_COMM && (v->objects & PVAR_ALL)))
            pvar.follow = true;
    }
}
