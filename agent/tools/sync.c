/* sync.c: exchanges messages after MPI_Init between the first process of each node and rank 0, so that readers can
 * compare the clocks of nodes (--sync). These processes wait for each other. So it is done only if all processes have
 * the agent and this setting, which they find out by files in the run directory. */
#include "base/clock.h"
#include "mpi/pings.h"
#include "run/fields.h"
#include "run/process.h"
#include "tools/tool.h"

struct sync_row {
    struct mpitx_run_row head;
    uint32_t number;
    int32_t peer;
    uint64_t sent, received, answered, back;
};

static const struct mpitx_run_field fields[] = {
    NUMBER("number", U32), NUMBER("peer", I32), TIME("sent"), TICKS("received"), TICKS("answered"), TIME("back"),
};

/* A process that cannot write them takes part all the same, since the others count on it. */
static void record(const struct ping *pings, int count)
{
    uint32_t bytes = 0;
    int table = mpitx_run_declare_table(agent_run, "clock pings", fields, COUNT(fields), 1, &bytes);
    if (table < 0 || bytes != sizeof(struct sync_row)) return;
    for (int i = 0; i < count; i++) {
        struct sync_row row = {.number = (uint32_t)i, .sent = pings[i].sent, .received = pings[i].received,
                               .answered = pings[i].answered, .back = pings[i].back};
        mpitx_run_row(agent_run, table, &row);
    }
}

static uint64_t hash(const char *text)
{
    uint64_t h = UINT64_C(14695981039346656037);
    for (; *text; text++) h = (h ^ (unsigned char)*text) * UINT64_C(1099511628211);
    return h;
}

static void started(void)
{
    struct ping pings[PINGS];
    const int32_t *firsts;
    int count;
    if (!agent_config_number("sync", 0) || !agent_run) return;
    if (agent_process.sessions || agent_process.first > 0) {
        agent_report(MPITX_RUN_INFO, "--sync: no messages for processes that %s",
                     agent_process.sessions ? "use sessions" : "MPI_Comm_spawn started");
        return;
    }
    switch (mpitx_run_meet(agent_run_options.dir, agent_process.rank, agent_process.size, hash(agent_run_options.host),
                           &firsts, &count)) {
    case MPITX_RUN_MEET:
        count = pings_exchange(firsts, count, pings);
        if (count > 0) record(pings, count);
        break;
    case MPITX_RUN_MEET_ONE_PLACE: break;
    case MPITX_RUN_MEET_NOT:
        agent_report(MPITX_RUN_WARNING,
                     "--sync: no messages: not all processes of the job are recorded in one run directory");
    }
}

static const char *const keys[] = {"sync", NULL};

const struct agent_tool sync_tool = {.name = "sync", .keys = keys, .started = started};
