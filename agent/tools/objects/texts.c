#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cancel.h"
#include "base/memory.h"
#include "tools/objects/objects.h"

uint32_t *texts_of_functions;
static uint32_t empty;

static uint32_t declare(uint32_t *place, const char *text)
{
    uint32_t known = __atomic_load_n(place, __ATOMIC_RELAXED);
    if (known) return known - 1;
    uint32_t id = text_of(text);
    if (id != TEXT_NONE) __atomic_store_n(place, id + 1, __ATOMIC_RELAXED);
    return id;
}

uint32_t text_of(const char *text)
{
    int id = mpitx_run_declare_text(agent_run, text);
    return id < 0 ? TEXT_NONE : (uint32_t)id;
}

uint32_t text_empty(void) { return declare(&empty, ""); }

uint32_t text_declare_function(int function)
{
    if (!__atomic_load_n(&texts_of_functions, __ATOMIC_ACQUIRE)) {
        uint32_t *new = memory_new((size_t)chain_function_count, sizeof *new), *none = NULL;
        if (!new) return TEXT_NONE;
        if (!__atomic_compare_exchange_n(&texts_of_functions, &none, new, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
            free(new);
    }
    return declare(&texts_of_functions[function], chain_functions[function].name);
}

/* ---- names of phases ---- */

enum { NAMES = 256, NAME = 64 };

static struct {
    char name[NAME];
    uint32_t text;
} names[NAMES];
static uint32_t name_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* held for the time of a declaration when a name is new */

static int find(const char *name, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++)
        if (strncmp(names[i].name, name, NAME - 1) == 0) return (int)i;
    return -1;
}

uint32_t text_of_name(const char *name)
{
    uint32_t known = __atomic_load_n(&name_count, __ATOMIC_ACQUIRE);
    int i = find(name, 0, known);
    if (i >= 0) return names[i].text;
    struct hold hold = hold_lock(&lock);
    i = find(name, known, name_count);
    if (i < 0 && name_count < NAMES) {
        snprintf(names[name_count].name, NAME, "%s", name);
        uint32_t text = text_of(names[name_count].name);
        if (text != TEXT_NONE) {
            i = (int)name_count;
            names[i].text = text;
            __atomic_store_n(&name_count, name_count + 1, __ATOMIC_RELEASE);
        }
    }
    hold_unlock(&lock, hold);
    if (i < 0) {
        static bool reported;
        if (!__atomic_exchange_n(&reported, true, __ATOMIC_RELAXED))
            agent_report_code(MPITX_RUN_WARNING, MPITX_RUN_NOTE_REDUCED,
                              "the program has too many phase names: calls in the last ones count as outside of all "
                              "phases; use fewer names");
    }
    return i < 0 ? TEXT_NONE : names[i].text;
}
