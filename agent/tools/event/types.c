/* types.c: the event types that patterns select. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "mpi/library.h"
#include "run/fields.h"
#include "tools/event/event.h"
#include "tools/objects/objects.h"

struct event_type *event_types;
int event_type_count;

/* ---- patterns ---- */

struct event_pattern {
    const char *text, *reason; /* reason: of a rule */
    struct pattern names;
    bool matched;
};

static struct event_pattern *patterns, *counted; /* counted: of event types whose data are not copied */
static int pattern_count, counted_count;

/* The rule of "FAMILY GLOB REASON"; NULL: of another family. The standard ABI's library may be of any. */
static const char *for_family(const char *text, const char **reason)
{
    size_t n = strcspn(text, " ");
    bool ours = strcmp(library_family, "abi") == 0 ||
                (strlen(library_family) == n && strncmp(text, library_family, n) == 0);
    if (!ours || !text[n]) return NULL;
    const char *glob = text + n + 1, *end = glob + strcspn(glob, " ");
    *reason = *end ? end + 1 : "its data are not read, by a rule for this library";
    return memory_part(glob, (size_t)(end - glob));
}

static struct event_pattern *read_patterns(const char *key, bool by_family, int *count)
{
    int n = 0;
    while (agent_config(key, n)) n++;
    struct event_pattern *list = memory_new((size_t)n + 1, sizeof *list);
    for (int i = 0; list && i < n; i++) {
        const char *reason = NULL, *text = by_family ? for_family(agent_config(key, i), &reason) : agent_config(key, i);
        if (!text) continue;
        list[*count] = (struct event_pattern){.text = text, .reason = reason};
        if (pattern_parse(&list[*count].names, text))
            ++*count;
        else
            agent_note("%s=%s: not a pattern", key, text);
    }
    return list;
}

void event_read_patterns(void)
{
    patterns = read_patterns("event", false, &pattern_count);
    counted = read_patterns("event_count", true, &counted_count);
}

bool event_wanted(void) { return agent_config("event", 0) && agent_config("dir", 0); }

static bool match(struct event_pattern *list, int count, const char *name)
{
    bool any = false;
    for (int i = 0; i < count; i++)
        if (pattern_match(&list[i].names, name, 0)) any = list[i].matched = true;
    return any;
}

/* Why an event is only counted, by a rule; NULL: no rule names it. */
static const char *rule_for(const char *name)
{
    for (int i = 0; i < counted_count; i++)
        if (pattern_match(&counted[i].names, name, 0)) return counted[i].reason;
    return NULL;
}

static bool matches(const char *name) { return match(patterns, pattern_count, name); }

/* PERUSE's specification spells two events of searches in two ways. */
bool event_matches_peruse(const char *name)
{
    static const char *const spellings[] = {"_SEARCH_UNEX_Q_", "_SEARCH_UNEX_QUEUE_"};
    bool found = matches(name);
    for (int i = 0; i < 2 && !found; i++) {
        const char *at = strstr(name, spellings[i]);
        char other[256];
        if (at &&
            snprintf(other, sizeof other, "%.*s%s%s", (int)(at - name), name, spellings[1 - i],
                     at + strlen(spellings[i])) < (int)sizeof other)
            found = matches(other);
    }
    return found;
}

/* The run keeps the patterns for its readers. */
void event_declare_patterns(void)
{
    static const struct mpitx_run_field fields[] = {NAMED("pattern")};
    struct {
        struct mpitx_run_row head;
        uint32_t pattern, unused;
    } row = {0};
    uint32_t bytes = 0;
    int asked = mpitx_run_declare_table(agent_run, "event patterns", fields, 1, 1, &bytes);
    for (int i = 0; i < pattern_count && asked >= 0 && bytes <= sizeof row; i++) {
        int text = mpitx_run_declare_text(agent_run, patterns[i].text);
        row.pattern = (uint32_t)text;
        if (text >= 0) mpitx_run_row(agent_run, asked, &row);
    }
}

bool event_suggests(void)
{
    for (int i = 0; i < pattern_count; i++)
        if (!patterns[i].matched && pattern_is_literal(&patterns[i].names)) return true;
    return false;
}

static void suggest(void)
{
    static char name[1024];
    struct mpitx_event_info info = {0};
    int n = 0, none = 0;
    if (pvar.table->event_get_num(&n) != MPITX_SUCCESS) return;
    for (int i = 0; i < n; i++) {
        int length = sizeof name;
        if (pvar.table->event_get_info(i, name, &length, NULL, &none, NULL, NULL, &info) == MPITX_SUCCESS)
            pvar_suggest(name);
    }
}

void event_note_unmatched(bool mpi_t)
{
    if (mpi_t && event_suggests()) suggest();
    pvar_suggest(NULL);
    for (int i = 0; i < pattern_count; i++)
        if (!patterns[i].matched)
            agent_report_code(MPITX_RUN_WARNING, MPITX_RUN_NOTE_UNMATCHED_EVENT, patterns[i].text);
}

/* ---- declarations ---- */

static const struct mpitx_run_field row_fields[] = {
    NAMED("name"),
             NAMED("description"),
    NUMBER("bind", U32), NUMBER("safety", U32), NUMBER("received", U64), NUMBER("recorded", U64),
    NUMBER("refused", U64), NUMBER("dropped", U64), NUMBER("late", U64), NAMED("reason"),
};
static int table = -1;

bool event_declare(void)
{
    uint32_t bytes = 0;
    table = mpitx_run_declare_table(agent_run, "mpi_t events", row_fields, COUNT(row_fields), 2, &bytes);
    return table >= 0 && bytes == sizeof(struct event_row);
}

/* The type of an element's field in the run. */
static uint8_t field_type(int datatype)
{
    switch (datatype) {
    case MPITX_TYPE_INT: case MPITX_TYPE_INT32_T: return MPITX_RUN_I32;
    case MPITX_TYPE_UNSIGNED: case MPITX_TYPE_UINT32_T: return MPITX_RUN_U32;
    case MPITX_TYPE_UNSIGNED_LONG: case MPITX_TYPE_UNSIGNED_LONG_LONG: case MPITX_TYPE_UINT64_T: return MPITX_RUN_U64;
    case MPITX_TYPE_DOUBLE: return MPITX_RUN_F64;
    case MPITX_TYPE_FLOAT: return MPITX_RUN_F32;
    case MPITX_TYPE_SHORT: case MPITX_TYPE_INT16_T: return MPITX_RUN_I16;
    case MPITX_TYPE_UNSIGNED_SHORT: case MPITX_TYPE_UINT16_T: return MPITX_RUN_U16;
    case MPITX_TYPE_CHAR: case MPITX_TYPE_SIGNED_CHAR: case MPITX_TYPE_INT8_T: return MPITX_RUN_I8;
    case MPITX_TYPE_C_BOOL: case MPITX_TYPE_UNSIGNED_CHAR: case MPITX_TYPE_UINT8_T: case MPITX_TYPE_BYTE:
        return MPITX_RUN_U8;
    default: return MPITX_RUN_I64; /* MPI_Count, MPI_Aint, MPI_Offset, long */
    }
}

/* The names of the elements, by an enumeration whose values are their indices. Others are "element 0" … */
static void name_elements(mpitx_handle enumtype, char names[][64], uint32_t count)
{
    int items = 0;
    for (uint32_t i = 0; i < count; i++) snprintf(names[i], sizeof names[i], "element %u", i);
    if (!enumtype || pvar.table->enum_get_info(enumtype, &items, NULL, &(int){0}) != MPITX_SUCCESS) return;
    for (int i = 0; i < items && i < EVENT_ELEMENTS; i++) {
        char name[64] = "";
        int value = -1, length = sizeof name;
        if (pvar.table->enum_get_item(enumtype, i, &value, name, &length) == MPITX_SUCCESS && value >= 0 &&
            (uint32_t)value < count && name[0])
            memcpy(names[value], name, sizeof name);
    }
}

static bool outside(int64_t at, size_t size) { return at < 0 || at > (int64_t)(EVENT_BYTES - size); }

/* The reason for a type with elements outside of its data; NULL: none is. */
static const char *count_outside(const int datatypes[], const int64_t at[], uint32_t count)
{
    static char why[64];
    uint32_t n = 0;
    for (uint32_t i = 0; i < count; i++) n += outside(at[i], mpitx_type_size(datatypes[i]));
    snprintf(why, sizeof why, "%u of its %u elements %s outside of the event", n, count, n == 1 ? "is" : "are");
    return n ? why : NULL;
}

/* Declares an event type in the run. Returns why its data cannot be copied; NULL: they can. */
static const char *declare_type(struct event_type *type, const int datatypes[], const int64_t at[],
                                const struct mpitx_event_info *info)
{
    static char names[EVENT_ELEMENTS][64];
    struct mpitx_run_field fields[3 + EVENT_ELEMENTS] = {NUMBER("timestamp", I64),
                                                         NUMBER("source", I32),
                                                         NUMBER("object", U32)};
    size_t to = sizeof(struct event_head);
    char name[1100];
    if (info->num_elements < 0 || info->num_elements > EVENT_ELEMENTS) return "it has too many elements";
    type->element_count = (uint32_t)info->num_elements;
    const char *why = count_outside(datatypes, at, type->element_count);
    if (why) return why;
    name_elements(info->enumtype, names, type->element_count);
    for (uint32_t i = 0; i < type->element_count; i++) {
        size_t size = mpitx_type_size(datatypes[i]);
        if (size == 0) return "an element has an unknown datatype";
        to = (to + size - 1) / size * size;
        type->elements[i] = (struct event_element){(uint16_t)at[i], (uint16_t)to, (uint16_t)size};
        fields[3 + i] = (struct mpitx_run_field){.name = names[i], .type = field_type(datatypes[i])};
        to += size;
        if ((uint32_t)at[i] + size > type->bytes) type->bytes = (uint32_t)((size_t)at[i] + size);
    }
    snprintf(name, sizeof name, "mpi_t %s", type->name);
    type->run_type = mpitx_run_declare_event(agent_run, name, fields, 3 + type->element_count, NULL);
    return type->run_type < 0 ? "the run has no room" : NULL;
}

/* ---- selection ---- */

static void add(int index, const char *name, const char *description)
{
    static int datatypes[EVENT_ELEMENTS];
    static int64_t at[EVENT_ELEMENTS];
    struct mpitx_event_info info = {.num_elements = EVENT_ELEMENTS};
    struct event_type *type = &event_types[event_type_count];
    *type = (struct event_type){.index = index, .safety = -1, .run_type = -1, .name = memory_text(name)};
    if (!type->name ||
        pvar.table->event_get_info(index, NULL, &(int){0}, NULL, &(int){0}, datatypes, at, &info) != MPITX_SUCCESS)
        return;
    type->bind = info.bind;
    if (info.info) pvar.table->info_free(&info.info);
    if (type->bind != MPITX_BIND_NO_OBJECT && type->bind != MPITX_BIND_MPI_COMM && type->bind != MPITX_BIND_MPI_WIN &&
        type->bind != MPITX_BIND_MPI_FILE) {
        agent_report(MPITX_RUN_WARNING,
                     "event %s: not recorded: it is bound to objects that are neither communicators, windows nor files",
                     name);
        return;
    }
    const char *why = rule_for(name);
    if (!why) why = declare_type(type, datatypes, at, &info);
    int texts[3] = {mpitx_run_declare_text(agent_run, name), mpitx_run_declare_text(agent_run, description),
                    mpitx_run_declare_text(agent_run, why ? why : "")};
    struct event_row row = {.name = (uint32_t)texts[0], .description = (uint32_t)texts[1], .reason = (uint32_t)texts[2],
                            .bind = (uint32_t)info.bind};
    type->row = texts[0] < 0 || texts[1] < 0 || texts[2] < 0
                ? NULL : (struct event_row *)mpitx_run_row(agent_run, table, &row);
    if (type->row) event_type_count++;
}

void event_select(void)
{
    static char name[1024], description[4096];
    int n = 0;
    if (pvar.table->event_get_num(&n) != MPITX_SUCCESS || n <= 0) return;
    event_types = memory_new((size_t)n, sizeof *event_types);
    for (int i = 0; event_types && i < n; i++) {
        int name_length = sizeof name, description_length = sizeof description;
        struct mpitx_event_info info = {0};
        if (pvar.table->event_get_info(i, name, &name_length, description, &description_length, NULL, NULL,
                                       &info) != MPITX_SUCCESS)
            continue;
        if (info.info) pvar.table->info_free(&info.info);
        if (matches(name)) add(i, name, description);
    }
}

/* ---- trials ---- */

static union mpi_handle trial;
static int trial_bind;

static int trial_alloc(int index, int object, mpitx_handle info, mpitx_handle *registration)
{
    if (object == MPITX_OBJECT_NONE) return pvar.table->event_handle_alloc(index, object, info, registration);
    return mpitx_event_bind(index, &trial, info, registration);
}

static int trial_info(int index, char *name, int *name_len, char *desc, int *desc_len, int types[], int64_t at[],
                      struct mpitx_event_info *info)
{
    int rc = pvar.table->event_get_info(index, name, name_len, desc, desc_len, types, at, info);
    if (rc == MPITX_SUCCESS && info->bind == trial_bind && info->bind != MPITX_BIND_NO_OBJECT)
        info->bind = MPITX_BIND_MPI_COMM;
    return rc;
}

static const char *verdict(struct event_type *type, const struct mpitx_probe_item *it)
{
    type->safety = 0;
    if (it->fault) return "the library crashes or hangs when it is registered (tried in a child process)";
    if (it->info_rc != MPITX_SUCCESS) return pvar_rc_name(it->info_rc);
    if (it->alloc_rc != MPITX_SUCCESS) return pvar_rc_name(it->alloc_rc);
    for (int s = MPITX_CB_REQUIRE_NONE; s <= MPITX_CB_REQUIRE_ASYNC_SIGNAL_SAFE; s++)
        if (it->safeties & 1 << s) type->safety = s;
    return type->safety ? NULL : "the library accepts no callback";
}

void event_try_new(int bind, union mpi_handle handle, bool known)
{
    struct mpitx_probe probe = {0};
    struct mpitx_probe_options options =
        {.object = known ? MPITX_OBJECT_COMM_WORLD : MPITX_OBJECT_NONE, .total_ms = 5000};
    struct mpitx_table with = *pvar.table;
    struct event_type **chosen = memory_new((size_t)event_type_count + 1, sizeof *chosen);
    int n = 0;
    for (int i = 0; chosen && i < event_type_count; i++)
        if (event_types[i].safety < 0 && event_types[i].bind == bind) chosen[n++] = &event_types[i];
    if (n > 0 && pvar_probes() && mpitx_probe_new(&probe, n, 4096) == MPITX_SUCCESS) {
        for (int i = 0; i < n; i++) {
            probe.items[i].kind = MPITX_PROBE_EVENT;
            probe.items[i].index = chosen[i]->index;
        }
        trial = handle;
        trial_bind = bind;
        with.event_handle_alloc = trial_alloc;
        with.event_get_info = trial_info;
        int rc = pvar_probe_run(&probe, &options, &with);
        for (int i = 0; i < n; i++) {
            const char *why = rc == MPITX_SUCCESS ? verdict(chosen[i], &probe.items[i])
                                                  : "cannot try it in a child process";
            if (why) agent_report(MPITX_RUN_WARNING, "event %s: not recorded: %s", chosen[i]->name, why);
        }
    } else
        for (int i = 0; i < n; i++) chosen[i]->safety = MPITX_CB_REQUIRE_ASYNC_SIGNAL_SAFE; /* bind.c goes down */
    for (int i = 0; i < n; i++)
        if (chosen[i]->safety > 0) chosen[i]->row->safety = (uint32_t)chosen[i]->safety;
        else chosen[i]->safety = 0;
    mpitx_probe_free(&probe);
    free(chosen);
}
