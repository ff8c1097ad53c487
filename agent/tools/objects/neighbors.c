/* neighbors.c: the table of neighbors in communicators with a topology, which traces need to say for whom neighborhood
 * collectives wait. */
#include "mpi/objects.h"
#include "run/fields.h"
#include "tools/objects/objects.h"

enum { MOST = 1 << 14 }; /* rows */

struct row {
    struct mpitx_run_row head;
    uint32_t object, number;
    int32_t rank;
    uint32_t count;
};

static const struct mpitx_run_field fields[] =
    {NUMBER("object", U32), NUMBER("number", U32), NUMBER("rank", I32), NUMBER("count", U32)};

static int table = -1;
static int rows;

bool neighbors_start(void)
{
    uint32_t bytes = 0;
    if (!agent_config("trace", 0)) return true;
    table = mpitx_run_declare_table(agent_run, "neighbors", fields, COUNT(fields), 2, &bytes);
    return table >= 0 && bytes == sizeof(struct row);
}

void neighbors_write(uint32_t object, union mpi_handle comm, uint32_t epoch)
{
    int32_t ranks[OBJECT_NEIGHBORS];
    int count = table >= 0 ? object_neighbors(comm, epoch, ranks) : -1;
    if (count < 0 || __atomic_add_fetch(&rows, count + 1, __ATOMIC_RELAXED) > MOST) return;
    struct row row = {.object = object, .rank = -1};
    if (count == 0) mpitx_run_row(agent_run, table, &row);
    for (int i = 0; i < count; i++) {
        row.number = (uint32_t)i;
        row.rank = ranks[i];
        row.count = (uint32_t)count;
        mpitx_run_row(agent_run, table, &row);
    }
}
