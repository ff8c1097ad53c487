/* sampler_pace INTERVAL_NS: reads windows as pairs of wake-ups and interruptions. After each, prints the stride of instants, and a ! if it
 * changed. */
#include <stdio.h>
#include <stdlib.h>

#include "tools/sample/pace.h"

int main(int argc, char **argv)
{
    struct sampler_pace pace = {0};
    unsigned long long interval = strtoull(argc > 1 ? argv[1] : "0", NULL, 10), wakes, interruptions;
    while (scanf("%llu %llu", &wakes, &interruptions) == 2) {
        int changed = sampler_pace_update(&pace, wakes, interruptions);
        printf("%u%s ", sampler_pace_stride(&pace, interval), changed ? "!" : "");
    }
    return 0;
}
