/* counter.c: counters that wrap, restart, or stop at their limit. */
#include "node/node.h"
#include "run/run.h"

#define QUARTER (UINT64_C(1) << 30)
#define WHOLE (UINT64_C(1) << 32)

struct node_counter node_counters[NODE_VARIABLES];

/* Some drivers count with 32 bits. A fall from the last quarter of that range to the first one is a wrap, any other
 * one is a new start. */
static bool wraps(const struct node_counter *c, uint64_t raw)
{
    return !c->wide && c->raw >= WHOLE - QUARTER && raw < QUARTER;
}

static void set(struct node_counter *c, uint64_t raw, bool may_wrap, unsigned scale)
{
    bool fell = c->known && raw < c->raw, wrapped = fell && may_wrap && wraps(c, raw);
    if (wrapped) c->passed += WHOLE;
    if (fell && !wrapped) c->passed = 0;
    c->wide = c->wide || raw >= WHOLE;
    /* After an absence, the interface may be another one. */
    bool again = c->known && c->now.status == MPITX_RUN_GONE;
    c->now = (struct node_value){.value = (c->passed + raw) * scale,
                                 .status = (fell && !wrapped) || again ? MPITX_RUN_RESET : MPITX_RUN_OK};
    c->raw = raw;
    c->known = true;
}

void counter_set(struct node_counter *c, uint64_t raw) { set(c, raw, true, 1); }

void counter_set_limited(struct node_counter *c, uint64_t raw, unsigned bits, unsigned scale)
{
    uint64_t limit = (UINT64_C(1) << bits) - 1;
    bool beyond = c->wide || raw > limit; /* it has more bits than it may have */
    set(c, raw, false, scale);
    c->wide = beyond;
    if (raw == limit && !beyond) counter_lost(c, "the counter stands at its limit, and counts no further");
}

void counter_set_level(struct node_counter *c, uint64_t value)
{
    c->now = (struct node_value){.value = value, .status = MPITX_RUN_OK};
    c->known = true;
}

void counter_lost(struct node_counter *c, const char *reason)
{
    c->now.status = MPITX_RUN_ERROR;
    c->now.reason = reason;
}
