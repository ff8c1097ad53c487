/* pattern.h: what names variables to sample: GLOB[:CLASS][@world|@self|@all]. Needs nothing of the agent.
 *
 * catalog/pattern.go reads the same; fixtures/patterns.txt is tested with both. */
#ifndef MPITX_PATTERN_H
#define MPITX_PATTERN_H

#include <stdbool.h>

#pragma GCC visibility push(hidden)

/* Which objects a variable that needs one is read for. */
enum pattern_objects { PATTERN_WORLD = 1, PATTERN_SELF = 2, PATTERN_ALL = 4 };

struct pattern {
    char *glob;    /* with the class */
    char *bare;    /* without it; NULL: there is none */
    int var_class; /* enum mpitx_pvar_class */
    unsigned objects;
};

/* False if the text is not a pattern, or memory is refused. A pattern is never freed. */
bool pattern_parse(struct pattern *pattern, const char *text);

/* Whether a variable of this name and class is meant. */
bool pattern_match(const struct pattern *pattern, const char *name, int var_class);

/* Whether it names one variable, or a few that differ in case. */
bool pattern_is_literal(const struct pattern *pattern);

#pragma GCC visibility pop

#endif
