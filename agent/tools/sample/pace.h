/* pace.h: decides how often the helper thread may sample, by the interruptions that its wake-ups cause. */
#ifndef MPITX_SAMPLER_PACE_H
#define MPITX_SAMPLER_PACE_H

#include <stdbool.h>
#include <stdint.h>

enum { SAMPLER_PACE_WINDOW = 16 }; /* wake-ups assessed together */

struct sampler_pace {
    bool crowded;  /* wake-ups interrupt computing threads */
    unsigned calm; /* consecutive windows with hardly any interruption */
};

/* Adds a window: its wake-ups, and the interruptions of the process's other threads. True: crowded changed. */
bool sampler_pace_update(struct sampler_pace *pace, uint64_t wakes, uint64_t interruptions);

/* The thread samples one in this many instants. */
uint32_t sampler_pace_stride(const struct sampler_pace *pace, uint64_t interval_ns);

#endif
