#include "run/run.h"

/* Runs a part of a script about events and tables; returns false for other parts. */
bool events_option(struct mpitx_run *run, const char *key, uint64_t n);
bool events_act(struct mpitx_run *run, const char *what);
