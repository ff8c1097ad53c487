/* observers.c: which observers want which functions. */
#include <string.h>

#include "base/memory.h"
#include "chain/internal.h"

struct observation {
    struct observation *next;
    const struct chain_observer *observer;
    uint8_t wants[];
};

static struct observation *observations; /* in the order of registration; never freed */

struct list {
    struct list *next;
    size_t count;
    const struct chain_observer *observers[];
};

static struct list *lists; /* never freed: a thread may still read an old one */
const struct chain_observer *const chain_nobody[] = {NULL};

unsigned chain_wanted(int function)
{
    unsigned all = 0;
    for (const struct observation *o = observations; o; o = o->next) all |= o->wants[function];
    return all;
}

static const struct list *find_list(const struct chain_observer *const *observers, size_t count)
{
    for (struct list *list = lists; list; list = list->next)
        if (list->count == count && memcmp(list->observers, observers, count * sizeof *observers) == 0) return list;
    struct list *list = memory_new(1, sizeof *list + (count + 1) * sizeof *observers);
    if (!list) return NULL;
    list->count = count;
    memcpy(list->observers, observers, count * sizeof *observers);
    list->next = lists;
    return lists = list;
}

/* The observers that want one kind of callback for a function; an empty list if out of memory. */
static const struct chain_observer *const *observers_of(int function, unsigned want)
{
    size_t count = 0;
    for (const struct observation *o = observations; o; o = o->next) count += (o->wants[function] & want) != 0;
    if (count == 0) return chain_nobody;
    const struct chain_observer *found[count];
    count = 0;
    for (const struct observation *o = observations; o; o = o->next)
        if (o->wants[function] & want) found[count++] = o->observer;
    const struct list *list = find_list(found, count);
    return list ? list->observers : chain_nobody;
}

void chain_select_observers(int function)
{
    struct chain_observers *observers = &chain_observers[function];
    __atomic_store_n(&observers->enter, observers_of(function, CHAIN_ENTER), __ATOMIC_RELEASE);
    __atomic_store_n(&observers->leave, observers_of(function, CHAIN_LEAVE), __ATOMIC_RELEASE);
    __atomic_store_n(&observers->completed, observers_of(function, CHAIN_COMPLETIONS), __ATOMIC_RELEASE);
}

uint8_t *chain_wants(const struct chain_observer *observer)
{
    struct observation **place = &observations;
    for (; *place; place = &(*place)->next)
        if ((*place)->observer == observer) return (*place)->wants;
    struct observation *new = memory_new(1, sizeof *new + (size_t)chain_function_count);
    if (!new) return NULL;
    new->observer = observer;
    __atomic_store_n(place, new, __ATOMIC_RELEASE);
    return new->wants;
}

void chain_observers_end_thread(void)
{
    for (const struct observation *o = __atomic_load_n(&observations, __ATOMIC_ACQUIRE); o;
         o = __atomic_load_n(&o->next, __ATOMIC_ACQUIRE))
        if (o->observer->thread_end) o->observer->thread_end();
}
