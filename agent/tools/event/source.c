/* source.c: event sources. Pairs of a source's time and the run's, at start and end, put its timestamps on its
 * clock. */
#define _GNU_SOURCE
#include "run/fields.h"
#include "tools/event/event.h"

struct source_row {
    struct mpitx_run_row head;
    uint32_t index, name;
    uint32_t order;
    int64_t ticks_per_second, max_ticks;
    int64_t first, last;           /* the source's time; negative: it has none */
    uint64_t first_time, last_time; /* the run's time then */
    uint64_t backwards, dropped;
};

static const struct mpitx_run_field fields[] = {
    NUMBER("source", U32),
             NAMED("name"),
    NUMBER("order", U32), NUMBER("ticks_per_second", I64), NUMBER("max_ticks", I64), NUMBER("first", I64),
    NUMBER("last", I64), TIME("first_time"), TIME("last_time"), NUMBER("backwards", U64), NUMBER("dropped", U64),
};

static int table = -1;
static struct source_row *rows[EVENT_SOURCES];
static int64_t latest[EVENT_SOURCES];

bool event_sources_declare(void)
{
    uint32_t bytes = 0;
    table = mpitx_run_declare_table(agent_run, "mpi_t sources", fields, COUNT(fields), 2, &bytes);
    return table >= 0 && bytes == sizeof(struct source_row);
}

/* The source's time between two readings of the run's clock that lie close together. */
static int64_t read_pair(int source, uint64_t *time)
{
    uint64_t closest = UINT64_MAX;
    int64_t found = -1;
    for (int i = 0; i < 5; i++) {
        int64_t timestamp;
        uint64_t before = clock_ticks();
        if (pvar.table->source_get_timestamp(source, &timestamp) != MPITX_SUCCESS) return -1;
        uint64_t took = clock_ticks() - before;
        if (took >= closest) continue;
        closest = took;
        found = timestamp;
        *time = before + took / 2;
    }
    return found;
}

void event_sources_begin(void)
{
    static char name[1024];
    int n = 0;
    if (pvar.table->source_get_num(&n) != MPITX_SUCCESS) return;
    for (int i = 0; i < n && i < EVENT_SOURCES; i++) {
        struct mpitx_source_info info = {0};
        int length = sizeof name;
        if (pvar.table->source_get_info(i, name, &length, NULL, &(int){0}, &info) != MPITX_SUCCESS) continue;
        if (info.info) pvar.table->info_free(&info.info);
        int text = mpitx_run_declare_text(agent_run, name);
        struct source_row row = {.index = (uint32_t)i, .name = (uint32_t)text, .order = (uint32_t)info.ordering,
                                 .ticks_per_second = info.ticks_per_second, .max_ticks = info.max_ticks, .last = -1};
        row.first = read_pair(i, &row.first_time);
        if (text >= 0) rows[i] = (struct source_row *)mpitx_run_row(agent_run, table, &row);
    }
}

void event_sources_end(void)
{
    for (int i = 0; i < EVENT_SOURCES; i++) {
        uint64_t time = 0;
        int64_t last = rows[i] ? read_pair(i, &time) : -1;
        if (rows[i] && mpitx_run_row_begin(agent_run, &rows[i]->head)) {
            rows[i]->last = last;
            rows[i]->last_time = time;
            mpitx_run_row_end(&rows[i]->head);
        }
    }
}

static struct source_row *row_of(int source) { return source >= 0 && source < EVENT_SOURCES ? rows[source] : NULL; }

void event_source_time(int source, int64_t timestamp)
{
    struct source_row *row = row_of(source);
    if (!row || row->order != MPITX_SOURCE_ORDERED || timestamp < 0) return;
    int64_t before = __atomic_load_n(&latest[source], __ATOMIC_RELAXED);
    if (timestamp < before && before - timestamp < row->max_ticks / 2)
        __atomic_fetch_add(&row->backwards, 1, __ATOMIC_RELAXED);
    else
        __atomic_store_n(&latest[source], timestamp, __ATOMIC_RELAXED);
}

void event_source_dropped(int source, int64_t count)
{
    struct source_row *row = row_of(source);
    if (row) __atomic_fetch_add(&row->dropped, (uint64_t)count, __ATOMIC_RELAXED);
}
