/* Answers lines "PATTERN TAB NAME TAB CLASS" with "OBJECTS yes", "OBJECTS no" or "refused", by agent/pvar/pattern.c. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "pvar/pattern.h"

char *memory_part(const char *text, size_t length) { return strndup(text, length); }

int main(void)
{
    static char line[1 << 16];
    while (fgets(line, sizeof line, stdin)) {
        char *rest = line, *pattern = strsep(&rest, "\t"), *name = strsep(&rest, "\t");
        struct pattern p;
        if (!rest)
            return 1;
        if (!pattern_parse(&p, pattern)) {
            puts("refused");
            continue;
        }
        const char *objects = p.objects & PATTERN_ALL ? "all" : p.objects == PATTERN_SELF ? "self" : "world";
        printf("%s %s\n", objects, pattern_match(&p, name, atoi(rest)) ? "yes" : "no");
        free(p.glob);
        free(p.bare);
    }
    return 0;
}
