/* many_observers.c: forty observers. Linked into the agent for tests. Writes what they have seen to the file MANY_OBSERVERS. */
#include <stdio.h>
#include <stdlib.h>

#include "chain/chain.h"

enum { MANY = 40 };
static struct {
    int entered, left, completed;
} seen[MANY];

#define OBSERVER(n)                                                                                                    \
    static void enter##n(const struct chain_call *call) { (void)call; seen[n].entered++; }                             \
    static void leave##n(const struct chain_call *call) { seen[n].left += !call->abandoned; }                          \
    static void completed##n(const struct chain_call *call, const struct call_completion *c) { (void)call; (void)c; seen[n].completed++; }
#define EACH(x) x(0) x(1) x(2) x(3) x(4) x(5) x(6) x(7) x(8) x(9) x(10) x(11) x(12) x(13) x(14) x(15) x(16) x(17) x(18) x(19) \
    x(20) x(21) x(22) x(23) x(24) x(25) x(26) x(27) x(28) x(29) x(30) x(31) x(32) x(33) x(34) x(35) x(36) x(37) x(38) x(39)
EACH(OBSERVER)
#define ENTRY(n) {.name = "many", .enter = enter##n, .leave = leave##n, .completed = completed##n},
static const struct chain_observer many[MANY] = {EACH(ENTRY)};

__attribute__((constructor)) static void start(void)
{
    if (!getenv("MANY_OBSERVERS")) return;
    for (int i = 0; i < MANY; i++) {
        if (i == MANY - 1) chain_observe(&many[i], chain_function_id("MPI_Send"), CHAIN_ENTER | CHAIN_LEAVE);
        else chain_observe(&many[i], -1, CHAIN_ENTER | CHAIN_LEAVE | CHAIN_COMPLETIONS);
    }
}

__attribute__((destructor)) static void end(void)
{
    const char *path = getenv("MANY_OBSERVERS");
    FILE *file = path ? fopen(path, "w") : NULL;
    if (!file) return;
    for (int i = 0; i < MANY; i++) fprintf(file, "entered %d left %d completed %d\n", seen[i].entered, seen[i].left, seen[i].completed);
    fclose(file);
}
