#include "base/lack.h"

#include <stdbool.h>
#include <stddef.h>

static struct agent_lacks own, *lacks = &own;

static void put(struct agent_lacks *to, const struct agent_lacks *more)
{
    uint64_t none = 0;
    __atomic_compare_exchange_n(&to->error, &none, more->error, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    __atomic_fetch_or(&to->what, more->what, __ATOMIC_RELAXED);
    __atomic_fetch_add(&to->count, more->count, __ATOMIC_RELEASE);
}

void agent_lacks(enum agent_lack what, int error)
{
    const struct agent_lacks one = {1, (uint64_t)error, what};
    put(__atomic_load_n(&lacks, __ATOMIC_ACQUIRE), &one);
}

void agent_lacks_move(struct agent_lacks *to)
{
    struct agent_lacks *from = __atomic_exchange_n(&lacks, to ? to : &own, __ATOMIC_ACQ_REL);
    if (to && from == &own && own.count) put(to, &own);
}
