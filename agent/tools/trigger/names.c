/* names.c: the handles of communicators whose name a condition compares with. They change as objects are named and
 * freed. */
#include <string.h>

#include "base/cancel.h"
#include "mpi/peers.h"
#include "tools/trigger/trigger.h"

enum { HANDLES = 64 };

static struct named {
    uint64_t handles[HANDLES]; /* 0: none */
    uint32_t used;
} named[TRIGGER_MOST][PROGRAM_NAMES];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

bool trigger_has_names(void)
{
    for (int i = 0; i < trigger_count; i++)
        if (triggers[i].names[0]) return true;
    return false;
}

bool trigger_comm(const struct program_subject *subject, int name)
{
    const struct trigger_check *check = (const struct trigger_check *)subject;
    const struct named *n = &named[check->trigger->number][name];
    const struct call_description *d = &subject->call->description;
    uint64_t handle = d->comm;
    if (d->epoch != epochs_now(handle)) return false; /* freed */
    for (uint32_t i = 0, used = __atomic_load_n(&n->used, __ATOMIC_ACQUIRE); i < used; i++)
        if (__atomic_load_n(&n->handles[i], __ATOMIC_RELAXED) == handle) return true;
    return false;
}

static void change(struct named *n, uint64_t handle, bool add)
{
    uint32_t place = n->used;
    for (uint32_t i = 0; i < n->used; i++) {
        if (n->handles[i] == handle) __atomic_store_n(&n->handles[i], 0, __ATOMIC_RELAXED);
        if (n->handles[i] == 0) place = i;
    }
    if (!add || place == HANDLES) return;
    __atomic_store_n(&n->handles[place], handle, __ATOMIC_RELAXED);
    if (place == n->used) __atomic_store_n(&n->used, place + 1, __ATOMIC_RELEASE);
}

void trigger_object(const struct chain_object *object)
{
    if (object->event == CHAIN_OBJECT_MADE || object->kind != CALL_COMM || trigger_count == 0) return;
    struct hold hold = hold_lock(&mutex);
    for (int i = 0; i < trigger_count; i++)
        for (int k = 0; k < PROGRAM_NAMES && triggers[i].names[k]; k++)
            change(&named[i][k], object->handle.number, object->event == CHAIN_OBJECT_NAMED && object->text &&
                   strcmp(object->text, triggers[i].names[k]) == 0);
    hold_unlock(&mutex, hold);
}
