/* event.c: callbacks of events into Go. */
#include "call.h"

#include "_cgo_export.h"

static void on_event(mpitx_handle instance, mpitx_handle registration, int safety, void *user_data)
{
    (void)registration;
    if (instance)
        mpitxEvent((uintptr_t)user_data, instance, safety);
}

static void on_dropped(int64_t count, mpitx_handle registration, int source, int safety, void *user_data)
{
    (void)registration;
    mpitxDropped((uintptr_t)user_data, count, source, safety);
}

static void on_free(mpitx_handle registration, int safety, void *user_data)
{
    (void)registration;
    (void)safety;
    mpitxFreed((uintptr_t)user_data);
}

int mt_event_handle_free(const struct mpitx_table *t, mpitx_handle registration, uintptr_t id)
{
    return t->event_handle_free(registration, (void *)id, id ? on_free : NULL);
}

int mt_event_register_callback(const struct mpitx_table *t, mpitx_handle registration, int safety, mpitx_handle info, uintptr_t id)
{
    return t->event_register_callback(registration, safety, info, (void *)id, id ? on_event : NULL);
}

int mt_event_set_dropped_handler(const struct mpitx_table *t, mpitx_handle registration, uintptr_t id)
{
    return t->event_set_dropped_handler(registration, (void *)id, id ? on_dropped : NULL);
}
