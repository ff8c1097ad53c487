/* trace.c: settings, start and end. */
#include "base/memory.h"
#include "run/fields.h"
#include "chain/unwind.h"
#include "mpi/library.h"
#include "tools/trace/trace.h"

#include <string.h>

#include "tools/processor/processor.h"

enum { CHUNK_BYTES = 256 << 10, POOL_BYTES = 64 << 20 };

static bool wanted(void) { return agent_config_is("trace", "record"); }

static void preparing(void)
{
    if (!wanted()) return;
    agent_run_options.dir = agent_config("dir", 0);
    agent_run_options.chunk_bytes = CHUNK_BYTES;
    agent_run_options.pool_bytes = POOL_BYTES;
}

static bool selected(const char *name)
{
    return !agent_config("functions", 0) || agent_config_matches("functions", name);
}

#define BEGIN TIME("begin"), NUMBER("request", U32), NUMBER("sequence", U32)
#define PEER NUMBER("object", U32), NUMBER("peer", I32), NUMBER("tag", I32), NUMBER("job", I32), NUMBER("flags", U32)
#define MESSAGE BYTES("bytes"), NAMED("function"), PEER

static bool declare(void)
{
    static const struct mpitx_run_field call[] = {BEGIN, ADDRESS("site"), MESSAGE, NAMED("algorithm"),
                                                NUMBER("reserved", U32)}, message[] = {BEGIN, MESSAGE};
    static const struct mpitx_run_field repeat[] =
        {NUMBER("slot", U32), NUMBER("lasted", U32), NUMBER("request", U32), NUMBER("sequence", U32)};
    static const struct mpitx_run_field hidden[] = {BEGIN, PEER, NUMBER("reserved", U32)};
    static const struct mpitx_run_field post[] = {TIME("begin"), NUMBER("request", U32), NUMBER("flags", U32)};
    static const struct mpitx_run_field partitioned[] =
        {BEGIN, MESSAGE, NUMBER("channel", U32), NUMBER("partitions", U32)};
    static const struct mpitx_run_field done[] = {NUMBER("request", U32), NUMBER("flags", U32)};
    static const struct mpitx_run_field cancel[] =
        {NUMBER("request", U32), NUMBER("outcome", U32), PEER, NUMBER("reserved", U32)};
    static const struct mpitx_run_field part[] = {TIME("begin"), NUMBER("request", U32), NUMBER("reserved", U32)};
    const struct {
        int *type;
        const char *name;
        const struct mpitx_run_field *fields;
        uint32_t count, bytes;
    } all[] = {{&trace_types.call, "trace call", call, COUNT(call), sizeof(struct trace_call)},
               {&trace_types.repeat, "trace repeat", repeat, COUNT(repeat), sizeof(struct trace_repeat)},
               {&trace_types.message, "trace message", message, COUNT(message), sizeof(struct trace_message)},
               {&trace_types.hidden, "trace hidden", hidden, COUNT(hidden), sizeof(struct trace_hidden)},
               {&trace_types.post, "trace post", post, COUNT(post), sizeof(struct trace_post)},
               {&trace_types.done, "trace done", done, COUNT(done), sizeof(struct trace_done)},
               {&trace_types.cancel, "trace cancel", cancel, COUNT(cancel), sizeof(struct trace_cancel)},
               {&trace_types.part, "trace part", part, COUNT(part), sizeof(struct trace_part)},
               {&trace_types.start, "trace start", post, COUNT(post), sizeof(struct trace_post)},
               {&trace_types.partitioned, "trace partitioned", partitioned, COUNT(partitioned),
                sizeof(struct trace_partitioned)}};
    for (uint32_t i = 0, bytes; i < COUNT(all); i++) {
        *all[i].type = mpitx_run_declare_event(agent_run, all[i].name, all[i].fields, all[i].count, &bytes);
        if (*all[i].type < 0 || bytes != all[i].bytes) return false;
    }
    return true;
}

/* Whether a function posts or completes receives. */
static bool receives(const struct call_function *function)
{
    bool probe = strcmp(function->name, "MPI_Mprobe") == 0 || strcmp(function->name, "MPI_Improbe") == 0;
    bool start = strcmp(function->name, "MPI_Start") == 0 || strcmp(function->name, "MPI_Startall") == 0;
    return probe || start || (function->traffic & CALL_COMPLETES) ||
           (function->kind == CALL_POINT_TO_POINT && (function->traffic & CALL_RECEIVES));
}

static unsigned role_of(const struct call_function *function, bool hides)
{
    bool partitioned = strncmp(function->name, "MPI_Psend", 9) == 0 || strncmp(function->name, "MPI_Precv", 9) == 0;
    return (selected(function->name) ? TRACE_SELECTED : hides && receives(function) ? TRACE_HIDDEN : 0) |
           (partitioned ? TRACE_PARTITIONED : 0);
}

static unsigned wants_of(const struct call_function *function, unsigned role)
{
    bool moves = function->kind == CALL_POINT_TO_POINT && (function->traffic & (CALL_SENDS | CALL_RECEIVES));
    bool carries = moves || (function->traffic & (CALL_REQUESTS | CALL_COMPLETES)) || receives(function);
    bool orders = moves || (receives(function) && !(function->traffic & CALL_COMPLETES));
    if (!(role & (TRACE_SELECTED | TRACE_HIDDEN))) return carries ? CHAIN_DESCRIPTION | CHAIN_COMPLETIONS : 0;
    return CHAIN_LEAVE | CHAIN_TIMES | CHAIN_DESCRIPTION | CHAIN_COMPLETIONS |
           (order_concurrent && orders ? CHAIN_ENTER : 0);
}

/* Messages whose receives are not in the trace may have been received all the same. */
static void note_part(void)
{
    static bool noted;
    if (!__atomic_exchange_n(&noted, true, __ATOMIC_RELAXED))
        agent_report_code(MPITX_RUN_INFO, MPITX_RUN_NOTE_PART, "the trace is of a part of the run");
}

/* Messages are numbered also in functions that are not selected. */
static bool observe(void)
{
    bool hides = false; /* a function is selected that receives */
    int left_out = 0;
    trace_roles = memory_new((size_t)chain_function_count, sizeof *trace_roles);
    if (!trace_roles) return false;
    for (int i = 0; i < chain_function_count; i++)
        if (!selected(chain_functions[i].name))
            left_out++;
        else
            hides = hides || receives(&chain_functions[i]);
    if (!hides) note_part();
    if (left_out) agent_report_code(MPITX_RUN_INFO, MPITX_RUN_NOTE_FUNCTIONS, "the trace has the calls of some functions only");
    for (int i = 0; i < chain_function_count; i++) {
        trace_roles[i] = (uint8_t)role_of(&chain_functions[i], hides);
        unsigned wants = wants_of(&chain_functions[i], trace_roles[i]);
        if (wants && !chain_observe(&trace_observer, i, wants)) return false;
        if (!processor_observe(i, trace_roles[i] & TRACE_SELECTED)) return false;
    }
    return true;
}

static void started(void)
{
    if (!wanted() || !agent_run) return;
    if (!objects_start() || !trace_phases_start() || !declare()) {
        agent_note("trace: not recording: no room in the run");
        return;
    }
    if (library_has_between() && !chain_unwind_start())
        agent_report(MPITX_RUN_WARNING, "call sites are those in the library's bindings and in wrappers: libgcc_s.so.1 is missing");
    order_start();
    trace_run = agent_run;
    trace_no_text = text_empty();
    if (agent_config("after_ns", 0) || agent_config("for_ns", 0) || agent_config("window", 0)) note_part();
    if (!observe()) agent_note("trace: some functions are not traced: out of memory");
    if (trace_roles) __atomic_store_n(&trace_recording, trace_run, __ATOMIC_RELEASE);
}

static void pcontrol(int level, const void *argument)
{
    if (!trace_run || !trace_roles) return;
    if (level == 0) {
        note_part();
        __atomic_store_n(&trace_recording, NULL, __ATOMIC_RELEASE);
    }
    if (level == 1) __atomic_store_n(&trace_recording, trace_run, __ATOMIC_RELEASE);
    if (level == 2) mpitx_run_flush(trace_run);
    trace_phases_pcontrol(level, argument);
}

static void ending(enum agent_end end)
{
    (void)end;
    if (!trace_run) return;
    trace_record_open_calls();
    trace_record_unseen();
    if (trace_interrupting)
        agent_report(MPITX_RUN_WARNING,
                     "%llu MPI calls in signal handlers are not in the trace: they interrupted the recording of "
                     "another call", (unsigned long long)trace_interrupting);
    __atomic_store_n(&trace_recording, NULL, __ATOMIC_RELEASE);
    trace_run = NULL;
    if (agent_process.thread_level > 1 || agent_process.thread_level < 0) agent_run_busy = true;
}

static void forked(void) { trace_recording = trace_run = NULL; }

static const char *const keys[] = {"trace", "functions", NULL};

const struct agent_tool trace_tool = {
    .name = "trace", .keys = keys, .preparing = preparing, .started = started, .pcontrol = pcontrol, .ending = ending,
            .forked = forked};
