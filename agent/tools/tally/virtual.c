#include "tools/tally/virtual.h"

#include <stdio.h>
#include <string.h>

#include "binding/shim/mpitx.h"
#include "base/agent.h"
#include "base/clock.h"
#include "base/processor.h"
#include "tools/tally/tally.h"

/* ---- what is counted ---- */

#define KINDS(kind) (1u << (kind))

static const struct definition {
    const char *name, *description;
    int var_class;
    enum tally_field field;
    unsigned kinds, traffic, wants;
    enum tally_field own;
    bool only_total;
} definitions[] = {
#define X(name, class, field, kinds, traffic, wants, own, only_total, description) \
    {"mpitx:" #name, description, MPITX_PVAR_CLASS_##class, TALLY_##field, 0 kinds, 0 traffic, wants, TALLY_##own,     \
     only_total},
#define AND
#define KIND(kind) | KINDS(CALL_##kind)
#define ALL_KINDS | (KINDS(CALL_VALUE) - 1)
#define NO_KIND
#define CARRIES(traffic) | CALL_##traffic
#define ANY_TRAFFIC
#define NOTHING 0
#define COUNTED CHAIN_LEAVE
#define TIMED CHAIN_ENTER | CHAIN_LEAVE | CHAIN_TIMES
#define DESCRIBED CHAIN_LEAVE | CHAIN_DESCRIPTION
#include "tools/tally/variables.h"
};

enum { DEFINITIONS = sizeof definitions / sizeof *definitions, FUNCTIONS = TALLY_FUNCTIONS };

/* First all totals, then the functions' shares. */
static short numbers[DEFINITIONS][FUNCTIONS + 1]; /* 0: no such variable; else its number + 1 */
static struct {
    short definition, function; /* function -1: total */
} variables[DEFINITIONS * (FUNCTIONS + 1)];
static int variable_count;

static bool initializes[FUNCTIONS];
/* a function's next other form (MPI_Send: MPI_Send_c), and a form's function; each plus one; 0: none */
static short next[FUNCTIONS], base[FUNCTIONS];

static bool is_time(const struct definition *definition)
{
    return definition->field == TALLY_TIME || definition->field == TALLY_INIT_TIME;
}

/* Whether a variable includes the time of the call that started the agent. That call ended before the first sample, so
 * all samples include its time. */
static bool has_start(int index)
{
    const struct definition *definition = &definitions[variables[index].definition];
    int function = variables[index].function;
    return is_time(definition) &&
           (function < 0 ? definition->field == TALLY_INIT_TIME : function == agent_process.init_function);
}

static int contributes(const struct definition *definition, const struct call_function *function)
{
    if (definition->field == TALLY_INIT_TIME) return initializes[function - chain_functions];
    if (!(definition->kinds & KINDS(function->kind))) return 0;
    return definition->traffic == 0 || (function->traffic & definition->traffic);
}

/* Whether a function has a variable of its own. Completion functions have none for collectives and for reads of files,
 * which they only start or complete. Nonblocking reads have none either: their bytes are counted on completion. */
static int has_share(const struct definition *definition, const struct call_function *function)
{
    if (definition->only_total || base[function - chain_functions] || !contributes(definition, function)) return 0;
    if (definition->field == TALLY_IO_READ && (function->traffic & CALL_REQUESTS)) return 0;
    return (definition->kinds & KINDS(CALL_POINT_TO_POINT)) || function->kind != CALL_COMPLETION;
}

static void add_form(int b, int form)
{
    base[form] = (short)(b + 1);
    next[form] = next[b];
    next[b] = (short)(form + 1);
}

/* A function for large counts is the same function: its calls are in the base function's share. The same holds for
 * MPIX_Op_create_x and similar functions, which MPICH's Fortran interface calls. The base function comes first in the
 * table. */
static void find_forms(void)
{
    char plain[64];
    for (int f = 1; f < chain_function_count; f++) {
        const char *name = chain_functions[f].name;
        size_t length = strlen(name) - 2;
        if (strncmp(name, "MPIX_", 5) == 0 && strcmp(name + length, "_x") == 0) {
            snprintf(plain, sizeof plain, "MPI_%.*s", (int)length - 5, name + 5);
            int b = chain_function_id(plain);
            if (b >= 0) add_form(b, f);
        }
        if (strcmp(name + length, "_c") != 0) continue;
        for (int b = f - 1; b >= 0 && b > f - 64 && !base[f]; b--)
            if (strncmp(chain_functions[b].name, name, length) == 0 && !chain_functions[b].name[length]) add_form(b, f);
    }
}

static void number_variables(void)
{
    if (variable_count || chain_function_count > FUNCTIONS) return;
    static const char *const names[] = {"MPI_Init", "MPI_Init_thread", "MPI_Session_init"};
    int count = 0, id;
    find_forms();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if ((id = chain_function_id(names[i])) >= 0) initializes[id] = true;
    for (int d = 0; d < DEFINITIONS; d++) {
        variables[count].definition = (short)d;
        variables[count++].function = -1;
        numbers[d][0] = (short)count;
    }
    for (int d = 0; d < DEFINITIONS; d++)
        for (int f = 0; f < chain_function_count; f++)
            if (has_share(&definitions[d], &chain_functions[f])) {
                variables[count].definition = (short)d;
                variables[count++].function = (short)f;
                numbers[d][f + 1] = (short)count;
            }
    variable_count = count;
}

int virtual_count(void)
{
    number_variables();
    return variable_count;
}

bool virtual_info(int index, struct virtual_info *info)
{
    if (index < 0 || index >= virtual_count()) return false;
    const struct definition *definition = &definitions[variables[index].definition];
    int function = variables[index].function;
    const char *name = definition->field == TALLY_TIME && function >= 0 ? "mpitx:time" : definition->name;
    snprintf(info->name, sizeof info->name, "%s%s%s", name, function < 0 ? "" : "/",
             function < 0 ? "" : chain_functions[function].name);
    info->description = definition->description;
    info->var_class = definition->var_class;
    info->datatype = MPITX_TYPE_UINT64_T;
    info->grows = !(is_time(definition) &&
                    (function < 0 ? definition->field == TALLY_INIT_TIME : initializes[function]));
    info->unit = info->var_class == MPITX_PVAR_CLASS_TIMER ? "ns" : info->var_class == MPITX_PVAR_CLASS_AGGREGATE ? "B"
                 : NULL;
    return true;
}

int virtual_find(const char *name)
{
    const char *slash = strchr(name, '/');
    size_t length = slash ? (size_t)(slash - name) : strlen(name);
    number_variables();
    for (int d = 0; d < DEFINITIONS; d++) {
        const char *own = slash && definitions[d].field == TALLY_TIME ? "mpitx:time" : definitions[d].name;
        if (strlen(own) != length || memcmp(own, name, length) != 0) continue;
        int function = slash ? chain_function_id(slash + 1) : -1;
        if (slash && (function < 0 || strcmp(chain_functions[function].name, slash + 1) != 0)) return -1;
        if (slash && base[function]) function = base[function] - 1;
        return numbers[d][function + 1] - 1;
    }
    return -1;
}

/* ---- choosing and reading ---- */

static uint8_t active[DEFINITIONS * (FUNCTIONS + 1)];
static uint64_t bases[DEFINITIONS * (FUNCTIONS + 1)];
static struct {
    uint64_t value, at;
} lasts[DEFINITIONS * (FUNCTIONS + 1)]; /* of timers, in ticks */

static uint64_t read_place(const uint64_t *place, const struct definition *definition, uint64_t now)
{
    uint64_t value = __atomic_load_n(place, __ATOMIC_RELAXED);
    return is_time(definition) && (int64_t)value < 0 ? value + now : value;
}

static uint64_t sum(int index, uint64_t now)
{
    const struct definition *definition = &definitions[variables[index].definition];
    int function = variables[index].function;
    uint64_t total = 0;
    if (definition->field == TALLY_CPU_TIME) return processor_process_time();
    if (definition->field == TALLY_CPU_WAIT) return processor_process_wait(false);
    for (struct tally *tally = __atomic_load_n(&tallies, __ATOMIC_ACQUIRE); tally; tally = tally->next) {
        uint64_t value = function < 0 ? read_place(&tally->totals[definition->field], definition, now) : 0;
        for (int f = function; f >= 0; f = next[f] - 1)
            value += read_place(&tally->rows[f][definition->own], definition, now);
        if (definition->field == TALLY_STARTED)
            value -= __atomic_load_n(&tally->totals[TALLY_COMPLETED], __ATOMIC_RELAXED);
        total += value;
    }
    return total;
}

/* Whether all calls are counted and timed. If so, counting in the functions' rows costs only a nanosecond more. */
static bool counts_functions(void)
{
    bool calls = false, time = false;
    for (int i = 0; i < DEFINITIONS; i++) {
        calls |= active[i] && definitions[i].field == TALLY_CALLS;
        time |= active[i] && definitions[i].field == TALLY_TIME;
    }
    return calls && time;
}

bool virtual_function(int function, uint64_t now, struct virtual_function *figures)
{
    if (!counts_functions() || function < 0 || function >= chain_function_count || base[function]) return false;
    uint64_t ticks = 0;
    *figures = (struct virtual_function){.name = chain_functions[function].name};
    for (struct tally *tally = __atomic_load_n(&tallies, __ATOMIC_ACQUIRE); tally; tally = tally->next)
        for (int f = function; f >= 0; f = next[f] - 1) {
            uint64_t time = __atomic_load_n(&tally->rows[f][TALLY_TIME], __ATOMIC_RELAXED);
            figures->calls += __atomic_load_n(&tally->rows[f][TALLY_CALLS], __ATOMIC_RELAXED);
            ticks += (int64_t)time < 0 ? time + now : time;
        }
    figures->time_ns = clock_nanoseconds(ticks);
    return figures->calls > 0;
}

static bool choose(void)
{
    uint8_t wants[FUNCTIONS] = {0}, places[FUNCTIONS] = {0};
    for (int i = 0; i < variable_count; i++) {
        if (!active[i]) continue;
        const struct definition *definition = &definitions[variables[i].definition];
        int function = variables[i].function;
        if (function >= 0) {
            for (int f = function; f >= 0; f = next[f] - 1) {
                wants[f] |= (uint8_t)definition->wants;
                places[f] |= TALLY_ROW;
            }
            continue;
        }
        for (int f = 0; f < chain_function_count; f++) {
            if (!contributes(definition, &chain_functions[f])) continue;
            wants[f] |= (uint8_t)definition->wants;
            if (is_time(definition)) places[f] |= TALLY_TIMED;
        }
    }
    for (int f = 0; f < chain_function_count; f++) {
        if (counts_functions()) places[f] |= TALLY_ROW;
        if (initializes[f]) places[f] |= TALLY_INIT;
        if (chain_functions[f].kind != CALL_POINT_TO_POINT || (chain_functions[f].traffic & CALL_REQUESTS))
            places[f] |= TALLY_TRANSFERS;
    }
    memcpy(tally_places, places, sizeof places);
    bool can = true;
    for (int f = 0; f < chain_function_count; f++) can &= chain_observe(&tally_observer, f, wants[f]);
    return can;
}

int virtual_activate(int index, bool on)
{
    if (index < 0 || index >= virtual_count()) return -1;
    if (active[index] == on) return 0;
    if (on) {
        lasts[index].value = 0;
        lasts[index].at = clock_ticks();
        bases[index] = sum(index, lasts[index].at);
    }
    active[index] = on;
    return choose() ? 0 : -1;
}

/* Times never decrease, and between two readings each thread's time grows by at most the time between them. A reader
 * may be interrupted before it reads the values; what it then reads too much is left to the next reading. */
static uint64_t bounded(int index, uint64_t value, uint64_t now)
{
    uint64_t last = lasts[index].value, elapsed = now > lasts[index].at ? now - lasts[index].at : 0;
    uint64_t most = last + elapsed * __atomic_load_n(&tally_count, __ATOMIC_RELAXED);
    if ((int64_t)(value - last) < 0) value = last;
    if (value > most) value = most;
    lasts[index].value = value;
    lasts[index].at += elapsed;
    return value;
}

static bool estimated(int function)
{
    bool any = false;
    for (int f = function; f >= 0; f = next[f] - 1) any = any || tally_estimated_by[f];
    return any;
}

const char *virtual_at_most(int index)
{
    if (index < 0 || index >= variable_count) return NULL;
    if (definitions[variables[index].definition].field == TALLY_CPU_WAIT && !processor_waits_known())
        return "the kernel does not say how long threads wait for a core, so the time in which the process did not "
               "run is counted";
    if (__builtin_expect(!__atomic_load_n(&tally_estimated, __ATOMIC_ACQUIRE), 1)) return NULL;
    int function = variables[index].function;
    if (definitions[variables[index].definition].field != TALLY_BYTES_RECEIVED ||
        (function >= 0 && !estimated(function)))
        return NULL;
    return "the library does not say how much MPI_Isendrecv received, so the size of the receive buffer is counted";
}

uint64_t virtual_read(int index, uint64_t now)
{
    if (index < 0 || index >= variable_count || !active[index]) return 0;
    const struct definition *definition = &definitions[variables[index].definition];
    uint64_t value = sum(index, now) - bases[index];
    if (definition->field == TALLY_STARTED) return (int64_t)value < 0 ? 0 : value;
    if (!is_time(definition)) return value;
    value = bounded(index, value, now);
    return clock_nanoseconds(value + (has_start(index) ? agent_process.start_ticks - agent_process.init_ticks : 0));
}
