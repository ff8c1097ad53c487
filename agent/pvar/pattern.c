#include "pvar/pattern.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "binding/shim/mpitx.h"

/* ---- globs match whole names, ignoring case, like catalog/glob.go ---- */

static unsigned char lower(char c) { return c >= 'A' && c <= 'Z' ? (unsigned char)(c - 'A' + 'a') : (unsigned char)c; }

/* Returns the length of the UTF-8 character at text. An invalid byte is a character by itself, U+FFFD. */
static size_t character(const char *text, uint32_t *code)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *s = (const unsigned char *)text;
    size_t n = s[0] < 0x80 ? 1 : s[0] < 0xc0 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : s[0] < 0xf8 ? 4 : 0, i = 1;
    *code = n == 1 ? lower(*text) : s[0] & (0x7fu >> n);
    while (i < n && (s[i] & 0xc0) == 0x80) *code = *code << 6 | (s[i++] & 0x3f);
    if (i == n && *code >= least[n] && *code <= 0x10ffff && (*code < 0xd800 || *code > 0xdfff)) return n;
    *code = 0xfffd;
    return 1;
}

/* Returns the length of the set at p ("[a-z]"), or 0 if it is not closed. *in says whether it contains c. */
static size_t glob_set(const char *p, uint32_t c, bool *in)
{
    size_t i = 1;
    bool negated = p[i] == '!' || p[i] == '^';
    *in = negated;
    i += negated;
    for (size_t start = i; p[i];) {
        uint32_t low, high;
        if (p[i] == ']' && i > start) return i + 1;
        i += character(p + i, &low);
        high = low;
        if (p[i] == '-' && p[i + 1] && p[i + 1] != ']') i += 1 + character(p + i + 1, &high);
        if (low <= c && c <= high) *in = !negated;
    }
    return 0;
}

static bool glob_valid(const char *p)
{
    bool in;
    for (size_t n; *p; p += n) {
        n = *p == '[' ? glob_set(p, 0, &in) : *p != '\\' ? 1 : p[1] ? 2 : 0;
        if (n == 0) return false;
    }
    return true;
}

/* Whether the pattern's first part matches the start of s; returns the lengths of both. */
static bool glob_one(const char *p, const char *s, size_t *of_p, size_t *of_s)
{
    uint32_t code, wanted;
    bool in;
    *of_p = 1;
    *of_s = character(s, &code);
    if (*p == '?') return true;
    if (*p == '[') return (*of_p = glob_set(p, code, &in)) != 0 && in;
    bool escaped = *p == '\\';
    size_t n = character(p + escaped, &wanted);
    *of_p = n + escaped;
    *of_s = n;
    for (size_t i = 0; i < n; i++)
        if (lower(p[escaped + i]) != lower(s[i])) return false;
    return true;
}

/* After a mismatch only the last star matches more. */
static bool glob_match(const char *pattern, const char *name)
{
    const char *star = NULL, *mark = NULL, *p = pattern, *s = name;
    if (strcmp(pattern, name) == 0) return true;
    while (*s) {
        size_t of_p, of_s;
        uint32_t code;
        if (*p == '*') {
            star = ++p;
            mark = s;
        } else if (*p && glob_one(p, s, &of_p, &of_s)) {
            p += of_p;
            s += of_s;
        } else if (star) {
            p = star;
            s = mark += character(mark, &code);
        } else {
            return false;
        }
    }
    while (*p == '*') p++;
    return *p == 0;
}

/* ---- classes, like catalog.ParseClass ---- */

/* Parses "counter", "MPI_T_PVAR_CLASS_COUNTER", "unknown(17)"; returns 0 for other words. */
static int parse_class(const char *text)
{
    static const char *const names[] = {"state", "level", "size", "percentage", "highwatermark", "lowwatermark",
                                        "counter", "aggregate", "timer", "generic"};
    static const char *const prefixes[] = {"mpi-t-pvar-class-", "mpi-"};
    char word[64], *w = word, *end;
    size_t n = strlen(text);
    if (n >= sizeof word) return 0;
    for (size_t i = 0; i <= n; i++) word[i] = text[i] == '_' ? '-' : (char)lower(text[i]);
    for (int i = 0; i < 2 && w == word; i++)
        if (strncmp(word, prefixes[i], strlen(prefixes[i])) == 0) w += strlen(prefixes[i]);
    for (int i = 0; i < (int)(sizeof names / sizeof *names); i++)
        if (strcmp(w, names[i]) == 0) return MPITX_PVAR_CLASS_STATE + i;
    if (strncmp(w, "unknown(", 8) != 0 || !strchr("+-0123456789", w[8])) return 0;
    long number = strtol(w + 8, &end, 10);
    return strcmp(end, ")") == 0 && end > w + 8 && number >= -MPITX_UNKNOWN / 2 && number < MPITX_UNKNOWN
           ? MPITX_UNKNOWN + (int)number : 0;
}

/* ---- patterns ---- */

bool pattern_parse(struct pattern *p, const char *text)
{
    static const struct { const char *name; unsigned objects; } wheres[] = {
        {"world", PATTERN_WORLD}, {"self", PATTERN_SELF}, {"all", PATTERN_WORLD | PATTERN_SELF | PATTERN_ALL}};
    const char *at = strrchr(text, '@');
    *p = (struct pattern){.glob = memory_part(text, at ? (size_t)(at - text) : strlen(text)),
                          .objects = at ? 0 : PATTERN_WORLD};
    for (int i = 0; at && i < 3; i++)
        if (strcmp(at + 1, wheres[i].name) == 0) p->objects = wheres[i].objects;
    char *colon = p->glob ? strrchr(p->glob, ':') : NULL; /* names may contain colons too */
    p->var_class = colon ? parse_class(colon + 1) : 0;
    if (p->var_class) p->bare = memory_part(p->glob, (size_t)(colon - p->glob));
    if (p->glob && p->objects && *p->glob && glob_valid(p->glob) && (!p->var_class || (p->bare && glob_valid(p->bare))))
        return true;
    free(p->glob);
    free(p->bare);
    return false;
}

bool pattern_match(const struct pattern *p, const char *name, int var_class)
{
    return glob_match(p->glob, name) || (p->bare && p->var_class == var_class && glob_match(p->bare, name));
}

bool pattern_is_literal(const struct pattern *p) { return !strpbrk(p->glob, "*?[\\"); }
