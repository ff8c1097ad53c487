/* group.c: the handles of an object's variables, and their columns and sets in the run.
 *
 * Variables that exist at the start (without object, or of MPI_COMM_WORLD and MPI_COMM_SELF) form one group and one
 * set, so that an instant is one record. Every later object has its own group. A request's group is suspended in
 * calls that may complete the request. A group is declared when it is first
 * sampled, so that communicators that live less than a period do not fill the run's tables. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "mpi/peers.h"
#include "pvar/pvar.h"

/* A sample's record must fit a chunk of 64 KiB together with others. */
#define SMALL 4096     /* bytes up to which a variable shares a row with others */
#define MAX_ROW 16384 /* bytes of a row, and of a piece of a large array */
#define MAX_COUNT (1 << 20)

/* The groups of later objects, by handle: applications have thousands of communicators. */
static struct pvar_group *by_handle[1 << 12];

static struct pvar_group **bucket_of(union mpi_handle handle)
{
    return &by_handle[handle.number * UINT64_C(0x9e3779b97f4a7c15) >> 52];
}

static size_t pad8(size_t n) { return (n + 7) & ~(size_t)7; }
static size_t bytes_of(const struct pvar_reading *r) { return r->count * r->variable->size; }

/* ---- making ---- */

/* Opens and starts a handle. Returns false if there is nothing to read. */
static bool open_reading(struct pvar_reading *r)
{
    const struct pvar_variable *v = r->variable;
    int count = -1; /* Open MPI's software counters do not set it */
    int rc;
    if (v->virtual) {
        r->count = 1;
        return true;
    }
    if (r->object->bind == MPITX_BIND_NO_OBJECT)
        rc = pvar.table->pvar_handle_alloc(pvar.session, v->index, MPITX_OBJECT_NONE, &r->handle, &count);
    else
        rc = mpitx_pvar_bind(pvar.session, v->index, &r->object->handle, &r->handle, &count);
    if (rc != MPITX_SUCCESS || count == 0 || count > MAX_COUNT) {
        if (r->object->id <= 2)
            agent_report(MPITX_RUN_WARNING, "%s: not sampled: MPI_T_pvar_handle_alloc: %s", v->name,
                         rc != MPITX_SUCCESS ? pvar_rc_name(rc) : "invalid number of elements");
        if (rc == MPITX_SUCCESS) pvar.table->pvar_handle_free(pvar.session, &r->handle);
        r->handle = 0;
        return false;
    }
    r->count = count < 0 ? 1 : (uint32_t)count;
    if (!v->continuous && (rc = pvar.table->pvar_start(pvar.session, r->handle)) != MPITX_SUCCESS &&
        rc != MPITX_ERR_PVAR_NO_STARTSTOP && r->object->id <= 2)
        agent_report(MPITX_RUN_WARNING, "%s: MPI_T_pvar_start: %s", v->name, pvar_rc_name(rc));
    return true;
}

static void add_readings(struct pvar_group *g, struct pvar_object *object, int from)
{
    for (int i = from; i < pvar.variable_count; i++) {
        struct pvar_variable *v = pvar.variables[i];
        unsigned need = object->id == 1 ? PATTERN_WORLD : object->id == 2 ? PATTERN_SELF : PATTERN_ALL;
        if (v->bind != object->bind || v->trial != PVAR_GOOD ||
            (v->bind == MPITX_BIND_MPI_COMM && !(v->objects & need)))
            continue;
        struct pvar_reading *r = &g->readings[g->reading_count];
        *r = (struct pvar_reading){.variable = v, .object = object, .virtual = v->virtual ? v->index : -1};
        if (open_reading(r)) g->reading_count++;
    }
}

/* Whether the sampler thread may read one without the other, so that they need separate rows. */
static bool need_separate_rows(const struct pvar_reading *a, const struct pvar_reading *b)
{
    return pvar.t_level != MPITX_THREAD_MULTIPLE && (a->virtual < 0) != (b->virtual < 0);
}

/* Puts large arrays last; they have their own rows. */
static bool sort_readings(struct pvar_group *g)
{
    struct pvar_reading *sorted = memory_get((g->reading_count + 1) * sizeof *sorted);
    uint32_t n = 0;
    if (!sorted) return false;
    for (int large = 0; large < 2; large++)
        for (uint32_t i = 0; i < g->reading_count; i++)
            if ((bytes_of(&g->readings[i]) > SMALL) == large) sorted[n++] = g->readings[i];
    free(g->readings);
    g->readings = sorted;
    return true;
}

static bool add_row(struct pvar_group *g, uint32_t first, uint32_t readings, uint32_t columns, uint32_t bytes,
                    char *row)
{
    struct pvar_row *grown = memory_grow(g->rows, (g->row_count + 1) * sizeof *grown);
    if (!grown) return false;
    g->rows = grown;
    struct pvar_row *r = &g->rows[g->row_count++];
    *r = (struct pvar_row){.set = -1, .library = g->readings[first].virtual < 0, .bytes = bytes, .columns = columns,
                           .first_reading = first, .readings = readings, .row = row,
                              .column = memory_get(columns * sizeof *r->column), .statuses = memory_new(columns, 1)};
    if (!r->row || !r->column || !r->statuses) return false;
    memset(r->column, 0xff, columns * sizeof *r->column);
    return true;
}

/* Lays out small variables next to each other, aligned to their element's size, like mpitx_run_declare_set. */
static bool lay_out_small(struct pvar_group *g, uint32_t *next)
{
    while (*next < g->reading_count && bytes_of(&g->readings[*next]) <= SMALL) {
        uint32_t first = *next, i = first;
        size_t at = 0;
        for (; i < g->reading_count && bytes_of(&g->readings[i]) <= SMALL &&
             !need_separate_rows(&g->readings[first], &g->readings[i]); i++) {
            size_t size = g->readings[i].variable->size;
            size_t start = (at + size - 1) / size * size;
            if (start + bytes_of(&g->readings[i]) > MAX_ROW) break;
            at = start + bytes_of(&g->readings[i]);
        }
        char *row = memory_new(1, pad8(at));
        if (!add_row(g, first, i - first, i - first, (uint32_t)pad8(at), row)) return false;
        at = 0;
        for (uint32_t k = first; k < i; k++) {
            struct pvar_reading *r = &g->readings[k];
            size_t size = r->variable->size;
            at = (at + size - 1) / size * size;
            r->target = row + at;
            r->row = g->row_count - 1;
            r->position = k - first;
            r->columns = 1;
            at += bytes_of(r);
        }
        *next = i;
    }
    return true;
}

/* Lays out large arrays: each is read into one buffer, whose pieces are rows of one column. */
static bool lay_out_large(struct pvar_group *g, uint32_t first)
{
    for (uint32_t i = first; i < g->reading_count; i++) {
        struct pvar_reading *r = &g->readings[i];
        size_t bytes = bytes_of(r);
        if ((r->target = memory_new(1, pad8(bytes))) == NULL) return false;
        r->row = g->row_count;
        for (size_t at = 0; at < bytes; at += MAX_ROW, r->columns++) {
            size_t piece = bytes - at < MAX_ROW ? pad8(bytes - at) : MAX_ROW;
            if (!add_row(g, i, 1, 1, (uint32_t)piece, r->target + at)) return false;
        }
    }
    return true;
}

static void add_to_list(struct pvar_group *g)
{
    g->previous = NULL;
    g->next = pvar.groups;
    if (g->next) g->next->previous = g;
    pvar.groups = g;
}

static void remove_from_list(struct pvar_group *g)
{
    if (g->previous)
        g->previous->next = g->next;
    else
        pvar.groups = g->next;
    if (g->next) g->next->previous = g->previous;
}

/* Adds the group to the list. Frees it if it has nothing to read or memory is short. */
static struct pvar_group *finish(struct pvar_group *g)
{
    uint32_t next = 0;
    bool ok = g->reading_count > 0 && sort_readings(g) && lay_out_small(g, &next) && lay_out_large(g, next);
    add_to_list(g);
    struct pvar_group **bucket = bucket_of(g->objects[0].handle);
    g->same = *bucket;
    *bucket = g;
    if (ok) return g;
    pvar_group_free(g);
    return NULL;
}

static struct pvar_group *new_group(size_t objects)
{
    struct pvar_group *g = memory_new(1, sizeof *g);
    if (g && (g->readings = memory_new((size_t)pvar.variable_count * objects + 1, sizeof *g->readings)) == NULL) {
        free(g);
        g = NULL;
    }
    return g;
}

static bool ranks_needed(const struct pvar_group *g, const struct pvar_object *object)
{
    for (uint32_t i = 0; i < g->reading_count; i++)
        if (g->readings[i].object == object && (int)g->readings[i].count == object->facts.size &&
            object->facts.size > 1)
            return true;
    return false;
}

struct pvar_group *pvar_group_first(void)
{
    struct pvar_group *g = new_group(3);
    if (!g) return NULL;
    g->objects[0] = (struct pvar_object){.bind = MPITX_BIND_NO_OBJECT};
    g->objects[1] = (struct pvar_object){.id = 1, .bind = MPITX_BIND_MPI_COMM,
                                         .handle = {.number = agent_process.world},
                                         .facts = {.size = agent_process.size, .name = "MPI_COMM_WORLD"}};
    g->objects[2] = (struct pvar_object){.id = 2, .bind = MPITX_BIND_MPI_COMM, .handle = {.number = agent_process.self},
                                         .facts = {.size = 1, .name = "MPI_COMM_SELF"}};
    g->object_count = agent_process.sessions || agent_process.world == 0 ? 1 : 3;
    for (int i = 0; i < g->object_count; i++) add_readings(g, &g->objects[i], 0);
    return finish(g);
}

struct pvar_group *pvar_group_late(int first_variable)
{
    struct pvar_group *g = new_group(1);
    if (!g) return NULL;
    g->objects[0] = (struct pvar_object){.bind = MPITX_BIND_NO_OBJECT};
    g->object_count = 1;
    add_readings(g, &g->objects[0], first_variable);
    return finish(g);
}

static struct pvar_group *new_group_of(int bind, union mpi_handle handle)
{
    struct pvar_group *g = new_group(1);
    if (!g) return NULL;
    g->objects[0] = (struct pvar_object){.id = pvar.next_object++, .bind = bind, .handle = handle};
    g->object_count = 1;
    return g;
}

static void set_name(struct pvar_object *o, const char *how)
{
    if (!o->facts.name[0])
        snprintf(o->facts.name, sizeof o->facts.name, "%s %llu", how ? how : "made", (unsigned long long)o->id);
}

struct pvar_group *pvar_group_new(int bind, union mpi_handle handle, const char *how)
{
    struct pvar_group *g = new_group_of(bind, handle);
    if (!g) return NULL;
    struct pvar_object *o = &g->objects[0];
    uint32_t epoch = epochs_now(handle.number);
    o->facts = object_ask(pvar_kind(bind), handle, epoch, false);
    if (object_peers_are_fewer(&o->facts)) {
        pvar.skipped_objects++;
    } else {
        add_readings(g, o, 0);
        if (ranks_needed(g, o)) o->facts = object_ask(pvar_kind(bind), handle, epoch, true);
        set_name(o, how);
    }
    return finish(g);
}

struct pvar_group *pvar_group_later(int bind, union mpi_handle handle, const char *how, const char *name)
{
    struct pvar_group *g = new_group_of(bind, handle);
    if (!g) return NULL;
    snprintf(g->objects[0].facts.name, sizeof g->objects[0].facts.name, "%s", name);
    set_name(&g->objects[0], how);
    add_readings(g, &g->objects[0], 0);
    return finish(g);
}

struct pvar_group *pvar_group_find(int bind, union mpi_handle handle)
{
    for (struct pvar_group *g = *bucket_of(handle); g; g = g->same)
        if (g->object_count == 1 && g->objects[0].bind == bind && g->objects[0].handle.number == handle.number)
            return g;
    return NULL;
}

/* ---- ending ---- */

void pvar_group_free(struct pvar_group *g)
{
    char why[64] = "";
    if (g->objects[0].id)
        snprintf(why, sizeof why, "the %s was freed", strchr(pvar_object_word(g->objects[0].bind), ' ') + 1);
    struct pvar_group **place = bucket_of(g->objects[0].handle);
    while (*place != g) place = &(*place)->same;
    *place = g->same;
    if (!g->suspended) remove_from_list(g);
    for (uint32_t i = 0; i < g->reading_count; i++) {
        struct pvar_reading *r = &g->readings[i];
        if (r->handle) pvar.table->pvar_handle_free(pvar.session, &r->handle);
    }
    for (uint32_t i = 0; i < g->row_count; i++) {
        struct pvar_row *row = &g->rows[i];
        for (uint32_t k = 0; row->set >= 0 && k < row->columns; k++)
            mpitx_run_column_status(agent_run, row->column[k], MPITX_RUN_GONE, why);
        free(row->column);
        free(row->statuses);
        free(row->last);
        if (row->readings && bytes_of(&g->readings[row->first_reading]) <= SMALL) free(row->row);
    }
    for (uint32_t i = 0; i < g->reading_count; i++)
        if (bytes_of(&g->readings[i]) > SMALL) free(g->readings[i].target);
    for (int i = 0; i < g->object_count; i++) free(g->objects[i].facts.ranks);
    free(g->readings);
    free(g->rows);
    free(g);
}

void pvar_group_unbind(struct pvar_group *g, const char *why)
{
    for (struct pvar_reading *r = g->readings, *end = r + g->reading_count; r < end; r++) {
        if (!r->object->id || r->dead) continue;
        pvar.table->pvar_handle_free(pvar.session, &r->handle);
        r->handle = 0;
        r->dead = true;
        pvar_reading_status(g, r, MPITX_RUN_GONE, why);
    }
}

void pvar_group_suspend(struct pvar_group *g)
{
    for (struct pvar_reading *r = g->readings, *end = r + g->reading_count; r < end; r++) {
        if (r->handle) pvar.table->pvar_handle_free(pvar.session, &r->handle);
        r->handle = 0;
    }
    remove_from_list(g);
    g->suspended = true;
}

void pvar_group_resume(struct pvar_group *g)
{
    add_to_list(g);
    g->suspended = false;
    for (struct pvar_reading *r = g->readings, *end = r + g->reading_count; r < end; r++) {
        uint32_t count = r->count;
        if (r->dead || (open_reading(r) && r->count == count)) continue;
        r->count = count;
        r->dead = true;
        pvar_reading_status(g, r, MPITX_RUN_ERROR, "it could not be bound again");
    }
}

/* ---- the run ---- */

static int declare_column(const struct pvar_reading *r, uint32_t piece)
{
    const struct pvar_variable *v = r->variable;
    const struct pvar_object *o = r->object;
    uint32_t most = bytes_of(r) > SMALL ? (uint32_t)(MAX_ROW / v->size) : r->count;
    uint32_t first = piece * most;
    struct mpitx_run_column c = {
        .variable = v->name, .var_class = v->var_class, .datatype = v->datatype, .first = first,
        .count = r->count - first < most ? r->count - first : most, .bind = v->bind, .object = o->id,
        .object_name = o->id ? o->facts.name
                             : NULL, .enum_name = v->enum_name, .items = v->items, .item_count = v->item_count,
        .enum_flags = v->enum_flags, .description = v->description, .unit = v->unit,
        .as = v->raw ? MPITX_RUN_AS_RAW : MPITX_RUN_AS_DEFAULT,
    };
    if (o->id && o->facts.size > 1 && (int)r->count == o->facts.size && (o->facts.ranks || !o->facts.inter)) {
        c.labels = o->facts.ranks ? MPITX_RUN_LABEL_WORLD_LIST : MPITX_RUN_LABEL_PEER;
        c.label = o->facts.ranks ? o->facts.ranks + first : NULL;
    }
    return mpitx_run_declare_column(agent_run, &c);
}

/* Returns 0 or the run's error. Columns declared before an error stay declared. */
static int declare_row(struct pvar_group *g, uint32_t index)
{
    struct pvar_row *row = &g->rows[index];
    uint32_t bytes = 0;
    for (uint32_t k = 0; k < row->columns; k++) {
        struct pvar_reading *r = &g->readings[row->first_reading + k];
        if (row->column[k] != UINT32_MAX) continue;
        int id = declare_column(r, index - r->row);
        if (id < 0) return id;
        row->column[k] = (uint32_t)id;
    }
    int set = mpitx_run_declare_set(agent_run, row->column, row->columns, NULL, &bytes);
    if (set >= 0 && bytes != row->bytes) return MPITX_RUN_INVALID;
    if (set >= 0) row->set = set;
    return set < 0 ? set : 0;
}

bool pvar_group_declare(struct pvar_group *g)
{
    if (g->refused) return false;
    for (uint32_t i = 0; i < g->row_count; i++) {
        int rc = g->rows[i].set < 0 ? declare_row(g, i) : 0;
        if (rc == MPITX_RUN_INVALID) {
            g->refused = true;
            if (pvar.refused_objects++ == 0)
                agent_report(MPITX_RUN_WARNING, "too many variables and objects: %s and later ones are not recorded",
                             g->objects[0].id ? g->objects[0].facts.name : "a variable");
        }
        if (rc) return false;
    }
    g->declared = true;
    for (uint32_t i = 0; i < g->reading_count; i++) /* errors from before the declaration */
        if (g->readings[i].rc != MPITX_SUCCESS)
            pvar_reading_status(g, &g->readings[i], MPITX_RUN_ERROR, pvar_rc_name(g->readings[i].rc));
    return true;
}

void pvar_reading_status(struct pvar_group *g, struct pvar_reading *r, int status, const char *reason)
{
    for (uint32_t k = 0; k < r->columns; k++) {
        struct pvar_row *row = &g->rows[r->row + k];
        uint8_t *kept = &row->statuses[r->position];
        row->bad = row->bad + (status != MPITX_RUN_OK ? 1u : 0u) - (*kept != MPITX_RUN_OK ? 1u : 0u);
        *kept = (uint8_t)status;
        if (row->set >= 0 && reason) mpitx_run_column_status(agent_run, row->column[r->position], status, reason);
    }
}
