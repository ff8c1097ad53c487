/* where.c: the tool: settings, start and end. */
#include "base/memory.h"
#include "chain/cfi.h"
#include "chain/internal.h"
#include "run/fields.h"
#include "tools/objects/objects.h"
#include "tools/where/where.h"

static const struct mpitx_run_field counts[] = {
    NUMBER("version", U32), NUMBER("lost", U32), NUMBER("posted", I32), NUMBER("reserved", U32),
    NUMBER("sent", U32, .count = CHAIN_MESSAGE_PLACES), NUMBER("received", U32, .count = CHAIN_MESSAGE_PLACES),
};

static bool declare(void)
{
    uint32_t *texts = memory_new((size_t)chain_function_count, sizeof *texts);
    if (!texts) return false;
    for (int i = 0; i < chain_function_count; i++)
        texts[i] = chain_state_arguments[i] ? text_of_function(i) : TEXT_NONE;
    where_texts = texts;
    return where_declare_rows() && objects_start() && epochs_start() && stacks_start();
}

/* Without a row nobody reads the counts. */
static void count_messages(void)
{
    enum { MULTIPLE = 3 };
    uint32_t bytes = 0;
    int of = mpitx_run_declare_table(agent_run, "where messages", counts, COUNT(counts), 1, &bytes);
    struct chain_messages *row = of >= 0 && bytes == sizeof *row
                                 ? (struct chain_messages *)mpitx_run_row(agent_run, of, chain_messages) : NULL;
    chain_messages_shared = agent_process.thread_level < 0 || agent_process.thread_level >= MULTIPLE;
    if (row) chain_messages = row;
}

static bool wanted(void) { return agent_config("where", 0) != NULL; }

static void entering(void) { if (wanted()) threads_before_init(); }

static void preparing(void) { if (wanted()) agent_run_options.dir = agent_config("dir", 0); }

static void started(void)
{
    static const struct chain_state_owner owner =
        {where_begin_row, where_end_row, objects_collectives, epochs_change, objects_rank};
    if (!wanted() || !agent_run) return;
    if (!declare()) {
        agent_report(MPITX_RUN_WARNING, "mpitx where does not show this rank: no room in the run");
        return;
    }
    threads_after_init();
    if (!cfi_start()) agent_note("mpitx where shows no stacks, and no call sites in Fortran: libgcc_s.so.1 is missing");
    count_messages();
    chain_states_start(&owner, where_texts);
    where_heartbeat_start();
}

/* Threads that are in calls keep writing to their rows. */
static void ending(enum agent_end how)
{
    (void)how;
    if (!where_close_rows()) agent_run_busy = true;
    chain_states_stop();
}

static const char *const keys[] = {"where", NULL};

const struct agent_tool where_tool = {.name = "where", .keys = keys, .entering = entering, .preparing = preparing,
                                      .started = started, .ending = ending};
