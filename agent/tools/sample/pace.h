/* pace.h: how often the helper thread may sample, by what its wakes do to the process's other threads. */
#ifndef MPITX_SAMPLER_PACE_H
#define MPITX_SAMPLER_PACE_H

#include <stdbool.h>
#include <stdint.h>

enum { SAMPLER_PACE_WINDOW = 16 }; /* wakes that are judged together */

struct sampler_pace {
    bool crowded;  /* wakes interrupt threads that compute */
    unsigned calm; /* windows in a row in which hardly any did */
};

/* Takes in a window: so many wakes, and how often the process's other threads were interrupted meanwhile. True if crowded changed. */
bool sampler_pace_judge(struct sampler_pace *pace, uint64_t wakes, uint64_t interruptions);

/* Of how many instants the thread looks at one. */
uint32_t sampler_pace_stride(const struct sampler_pace *pace, uint64_t interval_ns);

#endif
