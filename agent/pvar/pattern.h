/* pattern.h: patterns of variables to sample: GLOB[:CLASS][@world|@self|@all]. Independent of the rest of the agent.
 *
 * catalog/pattern.go implements the same; both are tested with fixtures/patterns.txt. */
#ifndef MPITX_PATTERN_H
#define MPITX_PATTERN_H

#include <stdbool.h>

#pragma GCC visibility push(hidden)

/* The objects for which a variable that needs one is read. */
enum pattern_objects { PATTERN_WORLD = 1, PATTERN_SELF = 2, PATTERN_ALL = 4 };

struct pattern {
    char *glob;    /* including the class */
    char *bare;    /* without the class; NULL: no class */
    int var_class; /* enum mpitx_pvar_class */
    unsigned objects;
};

/* Returns false if the text is not a pattern or memory is short. A pattern is never freed. */
bool pattern_parse(struct pattern *pattern, const char *text);

/* Whether the pattern selects a variable with a name and class. */
bool pattern_match(const struct pattern *pattern, const char *name, int var_class);

/* Whether it names one variable, or several that differ only in case. */
bool pattern_is_literal(const struct pattern *pattern);

#pragma GCC visibility pop

#endif
