#include "run/run.h"

/* A script's part that is about events and tables; false for others. */
bool events_option(struct mpitx_run *run, const char *key, uint64_t n);
bool events_act(struct mpitx_run *run, const char *what);
