/* null.c: an observer that does nothing with what it is told: the model for tools inside the agent (profiles, traces).
 *
 * Copy it, rename it, and put it into the table (life/tools.c). The configuration key null=1 switches it on.
 * What a tool keeps is per thread, made at the thread's first call and added to the whole when the thread ends, so
 * that no call waits for another. It ends with a note; a recording tool writes into the run instead, before it is closed (ending, run/process.h). */
#include <stdlib.h>

#include "tools/tool.h"

struct mine {
    struct mine *next;
    uint64_t entered, left, abandoned, completed;
};

static bool on;
static AGENT_THREAD struct mine *mine;
static struct mine *all; /* of all threads that ever called; they are added up at the end, whether their threads live or not */

static struct mine *find_mine(void)
{
    if (__builtin_expect(mine != NULL, 1)) return mine;
    struct mine *new = calloc(1, sizeof *new);
    if (!new) return NULL; /* no memory: this call is not observed, and nobody is hurt */
    new->next = __atomic_load_n(&all, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&all, &new->next, new, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) continue;
    return mine = new;
}

/* Before the call goes on; its arguments are described (peer, tag, communicator) if CHAIN_DESCRIPTION was asked for. */
static void enter(const struct chain_call *call)
{
    (void)call;
    if (find_mine()) mine->entered++;
}

/* After it: return code, times, messages and bytes. A call that was left by longjmp or an exception is told when that is noticed. */
static void leave(const struct chain_call *call)
{
    if (!find_mine()) return;
    if (call->abandoned)
        mine->abandoned++;
    else
        mine->left++;
}

/* A message was sent or received: see mpi/call.h. */
static void completed(const struct chain_call *call, const struct call_completion *completion)
{
    (void)call;
    (void)completion;
    if (find_mine()) mine->completed++;
}

static const struct chain_observer null_observer = {.name = "null", .enter = enter, .leave = leave, .completed = completed};

/* In MPI_Init, after the library's; nothing is observed before. */
static void started(void)
{
    if (!agent_config("null", 0)) return;
    on = chain_observe(&null_observer, -1, CHAIN_ENTER | CHAIN_LEAVE | CHAIN_TIMES | CHAIN_DESCRIPTION | CHAIN_COMPLETIONS); /* or of single functions only */
    if (!on) agent_note("null: there is no memory for it");
}

/* At MPI_Finalize, MPI_Abort or exit; other threads may still be in calls. */
static void ended(const char *how)
{
    struct mine sum = {0};
    (void)how;
    if (!on) return;
    for (const struct mine *m = __atomic_load_n(&all, __ATOMIC_ACQUIRE); m; m = m->next) {
        sum.entered += m->entered;
        sum.left += m->left;
        sum.abandoned += m->abandoned;
        sum.completed += m->completed;
    }
    agent_note("null: %llu calls entered, %llu left, %llu abandoned, %llu messages", (unsigned long long)sum.entered,
               (unsigned long long)sum.left, (unsigned long long)sum.abandoned, (unsigned long long)sum.completed);
}

static const char *const keys[] = {"null", NULL};

const struct agent_tool null_tool = {.name = "null", .keys = keys, .started = started, .ended = ended};
