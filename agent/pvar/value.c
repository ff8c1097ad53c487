/* value.c: converts a control variable's value to and from text. It accepts the same texts as catalog.ParseValue. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "pvar/pvar.h"

enum form { UNKNOWN, SIGNED, UNSIGNED, FLOATING, BOOLEAN, TEXT };

static enum form form_of(int datatype)
{
    switch (datatype) {
    case MPITX_TYPE_CHAR: return TEXT;
    case MPITX_TYPE_DOUBLE:
    case MPITX_TYPE_FLOAT: return FLOATING;
    case MPITX_TYPE_C_BOOL: return BOOLEAN;
    case MPITX_TYPE_INT:
    case MPITX_TYPE_COUNT:
    case MPITX_TYPE_INT32_T:
    case MPITX_TYPE_INT64_T:
    case MPITX_TYPE_LONG:
    case MPITX_TYPE_LONG_LONG:
    case MPITX_TYPE_SHORT:
    case MPITX_TYPE_SIGNED_CHAR:
    case MPITX_TYPE_INT8_T:
    case MPITX_TYPE_INT16_T:
    case MPITX_TYPE_AINT:
    case MPITX_TYPE_OFFSET: return SIGNED;
    default: return mpitx_type_size(datatype) ? UNSIGNED : UNKNOWN;
    }
}

/* Finds the item of an enumeration with a name. */
static bool find_item(const struct mpitx_table *t, mpitx_handle enumtype, const char *name, size_t length,
                      long long *value)
{
    int n = 0;
    if (!enumtype || t->enum_get_info(enumtype, &n, NULL, NULL) != MPITX_SUCCESS) return false;
    for (int i = 0; i < n && i < 4096; i++) {
        char item[256] = "";
        int item_length = sizeof item, item_value = 0;
        if (t->enum_get_item(enumtype, i, &item_value, item, &item_length) == MPITX_SUCCESS && strlen(item) == length &&
            strncasecmp(item, name, length) == 0) {
            *value = item_value;
            return true;
        }
    }
    return false;
}

/* Parses an item's name, or several joined by "|". */
static bool parse_items(const struct mpitx_table *t, mpitx_handle enumtype, const char *text, long long *value)
{
    *value = 0;
    for (;;) {
        size_t n = strcspn(text, "|");
        long long one;
        if (!find_item(t, enumtype, text, n, &one)) return false;
        *value |= one;
        if (!text[n]) return true;
        text += n + 1;
    }
}

static bool parse_boolean(const char *text, long long *value)
{
    static const struct { const char *word; int value; } words[] =
        {{"true", 1}, {"false", 0}, {"yes", 1}, {"no", 0}, {"on", 1}, {"off", 0}, {"t", 1}, {"f", 0}, {"y", 1},
         {"n", 0}, {"enabled", 1}, {"disabled", 0}};
    char *end;
    long long n = strtoll(text, &end, 0);
    if (end != text && !*end) { /* any number but 0 is true */
        *value = n != 0;
        return true;
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcasecmp(words[i].word, text) == 0) {
            *value = words[i].value;
            return true;
        }
    return false;
}

static bool fits_signed(long long n, size_t size)
{
    return size == 8 || (n >= -(1LL << (8 * size - 1)) && n < 1LL << (8 * size - 1));
}
static bool fits_unsigned(unsigned long long n, size_t size) { return size == 8 || n < 1ULL << (8 * size); }

/* A unit is 1024 or one of its powers: k, m, g, t. Returns the bits to shift; -1: no unit. */
static int unit_bits(const char *unit)
{
    static const char units[] = "kmgt";
    const char *at = *unit ? strchr(units, *unit | 0x20) : NULL;
    return !*unit ? 0 : at && *at && !unit[1] ? 10 * (int)(at - units + 1) : -1;
}

static bool parse_whole(const char *text, enum form form, size_t size, char *out)
{
    char *end;
    errno = 0;
    if (form == SIGNED) {
        long long n = strtoll(text, &end, 0), scaled;
        int bits = unit_bits(end);
        if (errno || end == text || bits < 0 || __builtin_mul_overflow(n, 1LL << bits, &scaled) ||
            !fits_signed(scaled, size))
            return false;
        memcpy(out, &scaled, size);
        return true;
    }
    unsigned long long n = strtoull(text, &end, 0), scaled;
    int bits = unit_bits(end);
    if (errno || end == text || bits < 0 || strchr(text, '-') || __builtin_mul_overflow(n, 1ULL << bits, &scaled) ||
        !fits_unsigned(scaled, size))
        return false;
    memcpy(out, &scaled, size);
    return true;
}

static bool parse_element(const struct mpitx_table *t, const struct pvar_cvar *v, const char *text, char *out)
{
    enum form form = form_of(v->datatype);
    long long n;
    if (form == FLOATING) {
        char *end;
        double d = strtod(text, &end);
        float f = (float)d;
        if (end == text || *end) return false;
        memcpy(out, v->size == 8 ? (void *)&d : (void *)&f, v->size);
        return true;
    }
    bool item = v->enumtype && parse_items(t, v->enumtype, text, &n);
    bool truth = !item && (form == BOOLEAN || (v->enumtype && find_item(t, v->enumtype, "true", 4, &n)));
    if (truth) item = parse_boolean(text, &n);
    if (item) {
        if (form == SIGNED && !fits_signed(n, v->size)) return false;
        memcpy(out, &n, v->size);
        return true;
    }
    return form != BOOLEAN && parse_whole(text, form, v->size, out);
}

bool pvar_value_parse(const struct mpitx_table *t, const struct pvar_cvar *v, const char *text, char *out, char *why,
                      size_t why_len)
{
    enum form form = form_of(v->datatype);
    if (form == UNKNOWN) {
        snprintf(why, why_len, "unknown datatype");
        return false;
    }
    if (form == TEXT) {
        if (strlen(text) >= (size_t)v->count) {
            snprintf(why, why_len, "longer than %d bytes", v->count - 1);
            return false;
        }
        memset(out, 0, (size_t)v->count);
        memcpy(out, text, strlen(text));
        return true;
    }
    char element[256];
    for (int i = 0; i < v->count; i++) {
        size_t n = strcspn(text, ",");
        snprintf(element, sizeof element, "%.*s", (int)(n < sizeof element ? n : sizeof element - 1), text);
        if (!parse_element(t, v, element, out + (size_t)i * v->size)) {
            snprintf(why, why_len, "not a value of its type");
            return false;
        }
        text += n;
        if ((*text == ',') != (i < v->count - 1)) {
            snprintf(why, why_len, "not %d elements", v->count);
            return false;
        }
        text += *text == ',';
    }
    return true;
}

static bool item_name(const struct mpitx_table *t, mpitx_handle enumtype, long long value, char *text, size_t len)
{
    int n = 0;
    if (!enumtype || t->enum_get_info(enumtype, &n, NULL, NULL) != MPITX_SUCCESS) return false;
    for (int i = 0; i < n && i < 4096; i++) {
        char item[256] = "";
        int item_length = sizeof item, item_value = 0;
        if (t->enum_get_item(enumtype, i, &item_value, item, &item_length) == MPITX_SUCCESS && item_value == value) {
            snprintf(text, len, "%s", item);
            return true;
        }
    }
    return false;
}

static void print_element(const struct mpitx_table *t, const struct pvar_cvar *v, const char *value, char *text,
                          size_t len)
{
    long long n = 0;
    float f = 0;
    double d = 0;
    switch (form_of(v->datatype)) {
    case FLOATING:
        memcpy(v->size == sizeof d ? (void *)&d : (void *)&f, value, v->size);
        snprintf(text, len, "%.*g", v->size == sizeof d ? 17 : 9, v->size == sizeof d ? d : (double)f);
        return;
    case SIGNED:
        memcpy(&n, value, v->size);
        if (v->size < 8 && n >> (8 * v->size - 1) & 1) n -= 1LL << (8 * v->size);
        break;
    default:
        memcpy(&n, value, v->size);
    }
    if (item_name(t, v->enumtype, n, text, len)) return;
    if (form_of(v->datatype) == BOOLEAN)
        snprintf(text, len, "%s", n == 0 ? "false" : "true");
    else if (form_of(v->datatype) == SIGNED)
        snprintf(text, len, "%lld", n);
    else
        snprintf(text, len, "%llu", (unsigned long long)n);
}

void pvar_value_print(const struct mpitx_table *t, const struct pvar_cvar *v, const char *value, char *text, size_t len)
{
    if (form_of(v->datatype) == TEXT) {
        snprintf(text, len, "%.*s", v->count, value);
        return;
    }
    size_t used = 0;
    text[0] = 0;
    for (int i = 0; i < v->count && used + 2 < len; i++) {
        if (i > 0) text[used++] = ',';
        print_element(t, v, value + (size_t)i * v->size, text + used, len - used);
        used += strlen(text + used);
    }
}

bool pvar_value_equal(const struct pvar_cvar *v, const char *a, const char *b)
{
    if (form_of(v->datatype) == TEXT) return strncmp(a, b, (size_t)v->count) == 0;
    return memcmp(a, b, (size_t)v->count * v->size) == 0;
}
