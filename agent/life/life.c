/* life.c: the agent's start and end.
 *
 *     ARMED -> STARTING -> RUNNING -> ENDING -> ENDED, and from anywhere to DORMANT
 *
 * Any thread may make any step, and sessions are opened and finalized by many at once. Each step is made by the one whose
 * compare-exchange succeeds. Who opened another session meanwhile waits for the start, as its calls would not be counted; who
 * leaves the process waits for the end that another one is writing. Both waits are bounded. */
#define _GNU_SOURCE
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "chain/internal.h"
#include "life/life.h"
#include "mpi/describe_state.h"
#include "mpi/library.h"
#include "mpi/requests.h"
#include "pvar/pvar.h"

#define START_WAIT_NS UINT64_C(20000000000) /* as long as trying variables may take */
#define END_WAIT_NS UINT64_C(2000000000)

#define TELL(call, ...)                                                                                                \
    for (const struct agent_tool *const *tool_ = agent_tools + 1; *tool_; tool_++)                                     \
        if ((*tool_)->call) (*tool_)->call(__VA_ARGS__)
#define TELL_BACKWARDS(call, ...)                                                                                      \
    for (const struct agent_tool *const *tool_ = last_tool(); *tool_; tool_--)                                         \
        if ((*tool_)->call) (*tool_)->call(__VA_ARGS__)

void chain_watch_libraries(void);
void chain_resolve_early(void);

static _Atomic int open_count;    /* MPI_Init and sessions: entered, and their end not entered */
static _Atomic int pending_count; /* entered, and their end has not returned */
static atomic_bool finished, opened_again;
static AGENT_THREAD bool ending_here;

static const struct agent_tool *const *last_tool(void)
{
    const struct agent_tool *const *tool = agent_tools + 1;
    while (*tool) tool++;
    return tool - 1;
}

static bool become(enum agent_state from, enum agent_state to)
{
    enum agent_state expected = from;
    return atomic_compare_exchange_strong(&agent_process.state, &expected, to);
}

static void wait_while(enum agent_state state, uint64_t most_ns)
{
    const struct timespec pause = {0, 200000};
    for (uint64_t start = clock_monotonic(); agent_process.state == state && clock_monotonic() - start < most_ns;)
        syscall(SYS_nanosleep, &pause, NULL); /* the C library's is where a thread may be cancelled */
}

static bool armed(void)
{
    enum agent_state state = atomic_load(&agent_process.state);
    return state != AGENT_ABSENT && state != AGENT_DORMANT;
}

static void unrecorded(const char *why)
{
    TELL(unrecorded, why);
}

static void tell_unrecorded(void)
{
    const char *text;
    for (int i = 0; (text = agent_note_text(i)); i++) unrecorded(text);
}

static void foreign(const char *path)
{
    if (agent_process.state == AGENT_ABSENT) return;
    agent_note("%s is not of the family that this agent was built for (%s)", path, library_family);
    agent_process.state = AGENT_DORMANT;
    tell_unrecorded();
}

static void become_child(void)
{
    if (agent_process.state == AGENT_ABSENT) return;
    agent_process.state = AGENT_DORMANT;
    chain_stop();
    TELL(forked);
    record_abandon();
}

static void tell_object(const struct chain_object *object)
{
    TELL(object, object);
}

static void tell_pcontrol(int level)
{
    TELL(pcontrol, level);
}

/* ---- start ---- */

static void enter_mpi(void)
{
    TELL(entering);
    clock_start();
    agent_leave_environment();
}

static void before_init(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    atomic_fetch_add(&open_count, 1);
    atomic_fetch_add(&pending_count, 1);
    if (agent_process.state == AGENT_ARMED) pthread_once(&once, enter_mpi);
}

static bool after_init(const struct chain_call *call, int rc, int level, bool sessions)
{
    if (rc != 0) {
        atomic_fetch_sub(&pending_count, 1);
        atomic_fetch_sub(&open_count, 1);
        return false;
    }
    if (level < 0 || level > 2 || sessions) requests_shared = true; /* another session may have more threads */
    if (!become(AGENT_ARMED, AGENT_STARTING)) {
        wait_while(AGENT_STARTING, START_WAIT_NS);
        if (agent_process.state == AGENT_ENDED && !atomic_exchange(&opened_again, true))
            unrecorded("it opened a session after its last one had ended: what follows is not recorded");
        return agent_process.state == AGENT_RUNNING;
    }
    agent_process.init_ticks = call->enter;
    agent_process.start_ticks = call->leave;
    agent_process.init_function = call->function;
    agent_process.sessions = sessions;
    agent_process.thread_level = level;
    clock_calibrate();
    describe_process();
    library_find_parts();
    chain_compare_names();
    chain_load_tools();
    pthread_atfork(NULL, NULL, become_child);
    TELL(preparing);
    if (agent_run_options.dir ? !record_open() : agent_config("dir", 0) != NULL) tell_unrecorded();
    chain_go();
    TELL(started);
    return become(AGENT_STARTING, AGENT_RUNNING);
}

/* ---- end ---- */

static void end_run(enum agent_end end)
{
    if (!become(AGENT_RUNNING, AGENT_ENDING)) return;
    ending_here = true;
    TELL_BACKWARDS(ending, end);
    record_close(end);
    ending_here = false;
    become(AGENT_ENDING, AGENT_ENDED);
}

/* After the last call that is to be counted. */
static void finish(const char *how)
{
    if (agent_process.state != AGENT_ENDED || atomic_exchange(&finished, true)) return;
    chain_stop();
    TELL_BACKWARDS(ended, how);
}

static void before_finalize(bool session)
{
    if (atomic_fetch_sub(&open_count, 1) == 1)
        end_run(AGENT_FINALIZE);
    else if (!session && agent_process.state == AGENT_RUNNING)
        TELL(world_ending);
}

static void after_finalize(void)
{
    if (atomic_fetch_sub(&pending_count, 1) == 1) finish("finalize");
}

/* The process ends. An end that this thread was writing when a signal interrupted it will not go on. */
static void leave(enum agent_end end, const char *how)
{
    end_run(end);
    if (!ending_here) wait_while(AGENT_ENDING, END_WAIT_NS);
    finish(how);
}

static void before_abort(void)
{
    leave(AGENT_ABORT, "abort");
}

__attribute__((destructor)) static void end(void)
{
    if (agent_process.state == AGENT_ARMED) {
        TELL_BACKWARDS(ended, "unreached");
        if (library_bypassed()) unrecorded("its calls went past the agent: it takes MPI's functions from the library by dlsym");
    }
    leave(AGENT_EXIT, "exit");
}

/* ---- loading ---- */

static bool known(const char *key)
{
    static const char *const keys[] = {"tool", "library", "unfit", NULL};
    bool listed = agent_lists(keys, key) || agent_lists(record_keys, key);
    for (const struct agent_tool *const *tool = agent_tools + 1; *tool && !listed; tool++)
        listed = (*tool)->keys && agent_lists((*tool)->keys, key);
    return listed;
}

__attribute__((constructor)) static void start(void)
{
    static const struct chain_owner owner = {before_init, after_init, before_finalize, after_finalize, before_abort,
                                             foreign, armed, tell_object, tell_pcontrol};
    const char *configuration = getenv(AGENT_VARIABLE);
    char *copy = configuration ? strdup(configuration) : NULL; /* for the life of the process */
    chain_belong(&owner);
    pvar_in_child = become_child;
    chain_watch_libraries();
    if (!copy) return;
    agent_process.state = AGENT_ARMED;
    agent_configure(copy, known);
    TELL(loaded);
    chain_resolve_early();
    if (chain_resolved) clock_start(); /* the earlier, the better it is calibrated */
}
