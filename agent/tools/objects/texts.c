#include <stdlib.h>

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

uint32_t text_empty(void)
{
    return declare(&empty, "");
}

uint32_t text_declare_function(int function)
{
    if (!__atomic_load_n(&texts_of_functions, __ATOMIC_ACQUIRE)) {
        uint32_t *new = calloc((size_t)chain_function_count, sizeof *new), *none = NULL;
        if (!new) return TEXT_NONE;
        if (!__atomic_compare_exchange_n(&texts_of_functions, &none, new, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) free(new);
    }
    return declare(&texts_of_functions[function], chain_functions[function].name);
}
