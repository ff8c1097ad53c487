/* values.c: reads the variables of conditions, like the sampler: with its lock, and only where it would read them. */
#include <errno.h>
#include <math.h>

#include "base/clock.h"
#include "mpi/peers.h"
#include "tools/trigger/trigger.h"

#define WAIT_NS UINT64_C(50000) /* for another thread that reads */
#define RATE_NS UINT64_C(100000000) /* over which rates are measured */

bool trigger_lock(void)
{
    if (sampler_try_lock()) return true;
    uint64_t most = clock_from_nanoseconds(WAIT_NS);
    for (uint64_t start = clock_ticks(); clock_ticks() - start < most;)
        if (sampler_try_lock()) return true;
    return false;
}

/* Variables may appear late: MPICH registers some with the first window. */
static void find_variables(struct trigger *t)
{
    for (int i = 0; i < PROGRAM_LOADS; i++) {
        struct trigger_variable *v = &t->variables[i];
        for (int k = 0; v->names.glob && !v->variable && k < pvar.variable_count; k++)
            if (pattern_match(&v->names, pvar.variables[k]->name, pvar.variables[k]->var_class))
                v->variable = pvar.variables[k];
    }
    t->variables_seen = pvar.variable_count;
}

static struct pvar_reading *find_in(struct pvar_group *g, const struct pvar_variable *variable, uint64_t object)
{
    for (struct pvar_reading *r = g->readings, *end = r + g->reading_count; r < end; r++)
        if (r->variable == variable && (variable->bind != MPITX_BIND_MPI_COMM || r->object->handle.number == object))
            return r;
    return NULL;
}

/* The variable's reading for its object: MPI_COMM_WORLD, MPI_COMM_SELF, or the call's communicator. */
static struct pvar_reading *find_reading(const struct trigger_variable *v, const struct chain_call *call,
                                         struct pvar_group **group)
{
    uint64_t object = v->names.objects & PATTERN_SELF ? agent_process.self : agent_process.world;
    struct pvar_reading *found = NULL;
    if (v->follows) {
        unsigned kind = chain_functions[call->function].kind;
        if (!call->described || kind == CALL_RMA || kind == CALL_IO) return NULL;
        object = call->description.comm;
        if (call->description.epoch != epochs_now(object)) return NULL; /* freed */
        *group = pvar_group_find(MPITX_BIND_MPI_COMM, (union mpi_handle){.number = object});
        if (*group) return find_in(*group, v->variable, object);
    }
    /* The group of the start is the last one; a late one has one variable without object. */
    for (struct pvar_group *g = pvar.groups; g && !found; g = g->next) {
        if (g->objects[0].bind != MPITX_BIND_NO_OBJECT) continue;
        found = find_in(g, v->variable, object);
        *group = g;
    }
    return found;
}

static double combine(const struct pvar_reading *r, const struct program_load *load)
{
    if (load->mode == PROGRAM_ELEMENT) return pvar_element(r, load->element);
    double result = pvar_element(r, 0);
    for (uint32_t i = 1; i < r->count; i++) {
        double e = pvar_element(r, i);
        if (load->mode == PROGRAM_MAX || load->mode == PROGRAM_MIN)
            result = (e > result) == (load->mode == PROGRAM_MAX) ? e : result;
        else
            result += e;
    }
    return result;
}

/* After a reset the increase is unknown. */
static double increase(struct trigger_past *past, uint8_t mode, double value, uint64_t now)
{
    bool known = past->known;
    double by = value - past->last;
    if (mode == PROGRAM_DELTA || !known) {
        *past = (struct trigger_past){.last = value, .at = now, .known = true, .rate = NAN};
        return known && by >= 0 ? by : NAN;
    }
    if (now - past->at >= clock_from_nanoseconds(RATE_NS)) {
        past->rate = by >= 0 ? by * 1e9 / (double)clock_nanoseconds(now - past->at) : NAN;
        past->last = value;
        past->at = now;
    }
    return past->rate;
}

static double read_value(struct trigger_check *check, int index)
{
    struct trigger *t = check->trigger;
    const struct program_load *load = &t->program.loads[index];
    struct trigger_variable *v = &t->variables[load->variable];
    struct pvar_group *group = NULL;
    int state = atomic_load_explicit(&sampler_state, memory_order_relaxed);
    if (state != SAMPLER_ON && state != SAMPLER_DONE) return NAN;
    if (!v->variable && t->variables_seen != pvar.variable_count) find_variables(t);
    if (!v->variable) return NAN;
    /* In a callback, the library may hold its locks. */
    if (check->subject.call->depth > 0 && !v->variable->virtual) return NAN;
    struct pvar_reading *r = find_reading(v, check->subject.call, &group);
    if (!r || !pvar_read_one(group, r, check->now)) return NAN;
    double value = combine(r, load);
    if (load->nanoseconds && v->variable->unit && v->variable->unit[0] == 's' && !v->variable->unit[1]) value *= 1e9;
    if (load->mode == PROGRAM_DELTA || load->mode == PROGRAM_RATE)
        value = increase(&t->past[index], load->mode, value, check->now);
    return value;
}

double trigger_load(struct program_subject *subject, int load)
{
    struct trigger_check *check = (struct trigger_check *)subject;
    if (check->busy) return NAN;
    if (!check->locked) {
        check->locked = trigger_lock();
        check->busy = !check->locked;
        check->now = clock_ticks();
        if (check->busy) return NAN;
    }
    int saved = errno;
    check->values[load] = read_value(check, load);
    errno = saved;
    return check->values[load];
}
