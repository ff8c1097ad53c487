/* table.c: the table "paths". */
#include "run/fields.h"
#include "tools/objects/objects.h"
#include "tools/paths/paths.h"

enum { ROWS = 4096, TEXTS = 64 };

struct paths_row {
    struct mpitx_run_row head;
    uint32_t kind, name;
    int32_t rank;
    uint32_t reserved;
    uint64_t id, peer, count, bytes, received, failed, code;
};

static const struct mpitx_run_field fields[] = {
    NAMED("kind"), NAMED("name"), NUMBER("rank", I32), NUMBER("reserved", U32), NUMBER("id", U64), NUMBER("peer", U64),
    NUMBER("count", U64), BYTES("bytes"), BYTES("received"), NUMBER("failed", U64), NUMBER("code", U64, .merge = MPITX_RUN_MAX),
};

static int table = -1;
static unsigned rows;

/* Most rows have the text of the row before, or one of a few. */
static uint32_t text_again(const char *text)
{
    static struct {
        uint64_t hash;
        uint32_t id;
    } known[TEXTS];
    uint64_t hash = UINT64_C(14695981039346656037);
    for (const char *c = text; *c; c++) hash = (hash ^ (unsigned char)*c) * UINT64_C(1099511628211);
    unsigned i = (unsigned)(hash >> 32) % TEXTS;
    if (known[i].hash != hash) {
        known[i].id = text_of(text);
        known[i].hash = known[i].id != TEXT_NONE ? hash : 0;
    }
    return known[i].id;
}

void paths_add(const struct paths_seen *seen)
{
    if (table < 0) return;
    if (rows == ROWS) {
        rows++;
        agent_note("paths: not all are recorded: %u is the limit", (unsigned)ROWS);
    }
    if (rows > ROWS) return;
    struct paths_row row = {
        .kind = text_again(seen->kind), .name = text_again(seen->name ? seen->name : ""), .rank = seen->rank, .id = seen->id,
        .peer = seen->peer, .count = seen->count, .bytes = seen->bytes, .received = seen->received, .failed = seen->failed,
        .code = seen->code,
    };
    if (row.kind != TEXT_NONE && row.name != TEXT_NONE && mpitx_run_row(agent_run, table, &row)) rows++;
}

bool paths_declare(void)
{
    uint32_t bytes = 0;
    table = mpitx_run_declare_table(agent_run, "paths", fields, COUNT(fields), 6, &bytes);
    if (bytes != sizeof(struct paths_row)) table = -1;
    return table >= 0;
}

void paths_close(void) { table = -1; }
