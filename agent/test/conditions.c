/* conditions: runs conditions of tools/trigger/program.c. Each line of standard input is
 *     KIND SENT RECEIVED GAVE GOT READ PEER TAG COMM TICKS COMMS FUNCTIONS LOAD×8|PROGRAM
 * where COMMS and FUNCTIONS are bits of the names that match, COMM 1 is MPI_COMM_WORLD and 2 is MPI_COMM_SELF, and a load may be nan.
 * Prints 1, 0, nan, or why the program is invalid. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/trigger/program.h"

struct agent_process agent_process = {.world = 1, .self = 2};
const struct call_function chain_functions[] = {
    {"other", CALL_OTHER, 0, 0}, {"point", CALL_POINT_TO_POINT, 0, 0}, {"completion", CALL_COMPLETION, 0, 0},
    {"collective", CALL_COLLECTIVE, 0, 0}, {"rma", CALL_RMA, 0, 0}, {"io", CALL_IO, 0, 0}, {"tool", CALL_TOOL, 0, 0}};

uint64_t clock_nanoseconds(uint64_t ticks) { return ticks; }

static double loads[PROGRAM_LOADS];
static unsigned comms, functions;

static double load(struct program_subject *subject, int index) { (void)subject; return loads[index]; }
static bool comm(const struct program_subject *subject, int name) { (void)subject; return comms >> name & 1; }
static bool function(const struct program_subject *subject, int name) { (void)subject; return functions >> name & 1; }

int main(void)
{
    static char line[1 << 20];
    while (fgets(line, sizeof line, stdin)) {
        struct chain_call call = {.described = 1};
        struct call_description *d = &call.description;
        unsigned long long sent, received, gave, got, read, handle, ticks;
        char *bar = strchr(line, '|'), *at;
        int kind, used = 0;
        if (!bar) return 2;
        *bar++ = 0;
        bar[strcspn(bar, "\n")] = 0;
        if (sscanf(line, "%d %llu %llu %llu %llu %llu %d %d %llu %llu %u %u%n", &kind, &sent, &received, &gave, &got, &read, &d->peer, &d->tag, &handle, &ticks,
                   &comms, &functions, &used) != 12)
            return 2;
        at = line + used;
        for (int i = 0; i < PROGRAM_LOADS; i++) loads[i] = strtod(at, &at);
        d->sent_bytes = sent, d->received_bytes = received, d->gave = gave, d->got = got, d->read = read, d->comm = handle;
        call.function = kind;
        call.enter = 5;
        call.leave = 5 + ticks;
        struct program *program = malloc(sizeof *program);
        const char *why = program_parse(program, bar);
        struct program_subject subject = {&call, load, comm, function};
        double result = why ? 0 : program_run(program, &subject);
        if (why)
            printf("invalid: %s\n", why);
        else
            printf(result != result ? "nan\n" : "%g\n", result);
        free(program);
    }
    return 0;
}
