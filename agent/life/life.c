/* life.c: starts and ends the agent.
 *
 *     ARMED -> STARTING -> RUNNING -> ENDING -> ENDED, and from any state to DORMANT
 *
 * Any thread may make any transition, and many threads may open and finalize sessions at once. The thread whose
 * compare-exchange succeeds makes the transition. A thread that opens another session meanwhile waits for the start, as
 * its calls would not be counted. A thread that ends the process waits for an end in progress. Both are bounded. */
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

#define START_WAIT_NS UINT64_C(20000000000) /* the limit of trying variables */
#define END_WAIT_NS UINT64_C(2000000000)

#define CALL_TOOLS(call, ...)                                                                                          \
    for (const struct agent_tool *const *tool_ = agent_tools + 1; *tool_; tool_++)                                     \
        if ((*tool_)->call) (*tool_)->call(__VA_ARGS__)
#define CALL_TOOLS_REVERSE(call, ...)                                                                                  \
    for (const struct agent_tool *const *tool_ = last_tool(); *tool_; tool_--)                                         \
        if ((*tool_)->call) (*tool_)->call(__VA_ARGS__)

static _Atomic int open_count;    /* MPI_Init and sessions: started, and their end not entered */
static _Atomic int pending_count; /* started, and their end has not returned */
static atomic_bool finished, opened_again;
static AGENT_THREAD bool ending_here;

static const struct agent_tool *const *last_tool(void)
{
    const struct agent_tool *const *tool = agent_tools + 1;
    while (*tool) tool++;
    return tool - 1;
}

static bool change_state(enum agent_state from, enum agent_state to)
{
    enum agent_state expected = from;
    return atomic_compare_exchange_strong(&agent_process.state, &expected, to);
}

static void wait_while(enum agent_state state, uint64_t max_ns)
{
    const struct timespec pause = {0, 200000};
    for (uint64_t start = clock_monotonic(); agent_process.state == state && clock_monotonic() - start < max_ns;)
        syscall(SYS_nanosleep, &pause, NULL); /* the C library's nanosleep is a cancellation point */
}

static bool armed(void)
{
    enum agent_state state = atomic_load(&agent_process.state);
    return state != AGENT_ABSENT && state != AGENT_DORMANT;
}

static void report_unrecorded(const char *why) { CALL_TOOLS(unrecorded, why); }

static void report_notes_unrecorded(void)
{
    const char *text;
    for (int i = 0; (text = agent_note_text(i)); i++) report_unrecorded(text);
}

static void wrong_family(const char *path)
{
    if (agent_process.state == AGENT_ABSENT) return;
    agent_note("%s is of another MPI family than this agent (%s)", path, library_family);
    agent_process.state = AGENT_DORMANT;
    report_notes_unrecorded();
}

static void become_child(void)
{
    if (agent_process.state == AGENT_ABSENT) return;
    agent_process.state = AGENT_DORMANT;
    chain_drop_tools();
    chain_stop();
    CALL_TOOLS(forked);
    record_abandon();
}

static void pass_object(const struct chain_object *object) { CALL_TOOLS(object, object); }

static void pass_pcontrol(int level, const void *argument) { CALL_TOOLS(pcontrol, level, argument); }

/* ---- start ---- */

static void enter_mpi(void)
{
    CALL_TOOLS(entering);
    clock_start();
    life_keep_environment();
    agent_clean_environment();
}

static void before_init(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    atomic_fetch_add(&open_count, 1);
    atomic_fetch_add(&pending_count, 1);
    if (agent_process.state == AGENT_ARMED) pthread_once(&once, enter_mpi);
}

static const char *function_name(int number) { return chain_functions[number].name; }

static bool after_init(const struct chain_call *call, int rc, int level, bool sessions)
{
    if (rc == CHAIN_NOT_REACHED) {
        agent_note("nothing is recorded: a tool returned from %s without calling the next function",
                   chain_functions[call->function].name);
        report_notes_unrecorded();
    }
    if (rc != 0) {
        atomic_fetch_sub(&pending_count, 1);
        atomic_fetch_sub(&open_count, 1);
        return false;
    }
    if (level < 0 || level > 2 || sessions) requests_shared = true; /* another session may have more threads */
    if (!change_state(AGENT_ARMED, AGENT_STARTING)) {
        wait_while(AGENT_STARTING, START_WAIT_NS);
        if (agent_process.state == AGENT_ENDED && !atomic_exchange(&opened_again, true))
            report_unrecorded("it opened a session after its last one had ended: later calls are not recorded");
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
    library_find_wrappers(function_name, chain_function_count);
    chain_compare_names();
    pthread_atfork(NULL, NULL, become_child);
    CALL_TOOLS(preparing);
    if (agent_run_options.dir ? !record_open() : agent_config("dir", 0) != NULL) report_notes_unrecorded();
    chain_go();
    CALL_TOOLS(started);
    mpitx_run_flush(agent_run); /* so that callbacks of the library find declarations sealed */
    return change_state(AGENT_STARTING, AGENT_RUNNING);
}

/* ---- end ---- */

static void end_run(enum agent_end end)
{
    if (!change_state(AGENT_RUNNING, AGENT_ENDING)) return;
    ending_here = true;
    CALL_TOOLS_REVERSE(ending, end);
    if (end == AGENT_FINALIZE) pvar_before_last_session();
    record_close(end);
    ending_here = false;
    change_state(AGENT_ENDING, AGENT_ENDED);
}

/* After the last call that counts. */
static void finish(const char *how)
{
    if (agent_process.state != AGENT_ENDED || atomic_exchange(&finished, true)) return;
    chain_stop();
    CALL_TOOLS_REVERSE(ended, how);
}

static void before_finalize(bool session)
{
    if (atomic_fetch_sub(&open_count, 1) == 1)
        end_run(AGENT_FINALIZE);
    else if (!session && agent_process.state == AGENT_RUNNING)
        CALL_TOOLS(world_ending);
}

static void after_finalize(void) { if (atomic_fetch_sub(&pending_count, 1) == 1) finish("finalize"); }

/* Ends the recording. If a signal interrupted this thread while it was writing the end, that end will not continue. */
static void leave(enum agent_end end, const char *how)
{
    end_run(end);
    if (!ending_here) wait_while(AGENT_ENDING, END_WAIT_NS);
    finish(how);
}

static void before_abort(void) { leave(AGENT_ABORT, "abort"); }

__attribute__((destructor)) static void end(void)
{
    if (agent_process.state == AGENT_ARMED) {
        CALL_TOOLS_REVERSE(ended, "unreached");
        if (library_bypassed())
            report_unrecorded("its calls bypass the agent: it looks up MPI functions with dlsym, or opens libraries "
                              "with RTLD_DEEPBIND");
    }
    leave(AGENT_EXIT, "exit");
}

/* ---- loading ---- */

static bool known(const char *key)
{
    static const char *const keys[] = {"tool", "tool_name", "qmpi", "check_tools", "library", "unfit", "skip", NULL};
    bool listed = agent_has_key(keys, key) || agent_has_key(record_keys, key);
    for (const struct agent_tool *const *tool = agent_tools + 1; *tool && !listed; tool++)
        listed = (*tool)->keys && agent_has_key((*tool)->keys, key);
    return listed;
}

__attribute__((constructor)) static void start(void)
{
    static const struct chain_owner owner = {before_init, after_init, before_finalize, after_finalize, before_abort,
                                             wrong_family, armed, pass_object, pass_pcontrol,
                                             life_spawning, life_spawned};
    char *configuration = life_configuration();
    chain_owner = &owner;
    pvar_in_child = become_child;
    chain_watch_libraries();
    if (!configuration) return;
    agent_configure(configuration, known);
    if (agent_config("check_tools", 0)) chain_check_tools((int)agent_config_number("check_tools", 2));
    agent_process.state = AGENT_ARMED;
    CALL_TOOLS(loaded);
    chain_resolve_early();
    chain_load_tools();
    if (chain_resolved) clock_start(); /* an early start improves the calibration */
}
