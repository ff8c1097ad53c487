/* config.c: reads a trigger's configuration: lines of a word and a value (condition/program.go). Nothing is trusted. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "tools/trigger/trigger.h"

struct trigger *triggers;
int trigger_count;

/* Whether a pattern selects a function, also by the name without the suffix of its form for large counts. */
static bool selects(const struct pattern *pattern, const char *function)
{
    char plain[96];
    size_t length = strlen(function);
    if (pattern_match(pattern, function, 0)) return true;
    if (length < 3 || length >= sizeof plain || strcmp(function + length - 2, "_c") != 0) return false;
    memcpy(plain, function, length - 2);
    plain[length - 2] = 0;
    return pattern_match(pattern, plain, 0);
}

static bool add_functions(struct trigger *t, int bit, const char *glob)
{
    struct pattern pattern;
    if (strchr(glob, '@') || !pattern_parse(&pattern, glob)) return false;
    for (int i = 0; i < chain_function_count; i++)
        if (selects(&pattern, chain_functions[i].name)) t->functions[i] |= (uint8_t)(1u << bit);
    return true;
}

static bool add_on(struct trigger *t, const char *list)
{
    char *copy = memory_text(list), *rest = copy;
    bool ok = copy != NULL;
    t->on = list;
    for (char *one; ok && (one = strsep(&rest, ","));) ok = add_functions(t, 0, one);
    free(copy);
    return ok;
}

static bool add_action(struct trigger *t, const char *word)
{
    static const struct {
        const char *word;
        unsigned actions;
    } plain[] = {{"event", TRIGGER_EVENT}, {"backtrace", TRIGGER_BACKTRACE}, {"sample", TRIGGER_SAMPLE}};
    size_t length = strlen(t->then);
    snprintf(t->then + length, sizeof t->then - length, "%s%s", length ? "," : "", word);
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (strcmp(plain[i].word, word) == 0) {
            t->actions |= plain[i].actions;
            return true;
        }
    char *end;
    const char *value = strchr(word, '=');
    long number = value ? strtol(value + 1, &end, 10) : 0;
    if (!value || end == value + 1 || *end) return false;
    if (strncmp(word, "pcontrol=", 9) == 0) {
        t->actions |= TRIGGER_PCONTROL;
        t->level = (int)number;
        return number >= 0 && number <= TRIGGER_LEVELS;
    }
    t->actions |= TRIGGER_STOP;
    t->signal = (int)number;
    return strncmp(word, "stop=", 5) == 0 && number > 0 && number < NSIG;
}

struct counts {
    int variables, values, names, functions;
};

static bool read_line(struct trigger *t, struct counts *n, const char *word, const char *value, const char **why)
{
    if (strcmp(word, "text") == 0) {
        t->text = value;
        return true;
    }
    if (strcmp(word, "code") == 0) return !(*why = program_parse(&t->program, value));
    if (strcmp(word, "on") == 0) return add_on(t, value);
    if (strcmp(word, "then") == 0) return add_action(t, value);
    if (strcmp(word, "check") == 0) return t->at_return = strcmp(value, "return") == 0;
    if (strcmp(word, "value") == 0 && n->values < PROGRAM_LOADS) {
        t->values[n->values++] = value;
        return true;
    }
    if (strcmp(word, "name") == 0 && n->names < PROGRAM_NAMES) {
        t->names[n->names++] = value;
        return true;
    }
    if (strcmp(word, "function") == 0 && n->functions < PROGRAM_NAMES - 1)
        return add_functions(t, 1 + n->functions++, value);
    if (strcmp(word, "variable") != 0 || n->variables == PROGRAM_LOADS) return false;
    struct trigger_variable *v = &t->variables[n->variables++];
    bool ok = pattern_parse(&v->names, value) && pattern_is_literal(&v->names);
    v->follows = ok && (v->names.objects & PATTERN_ALL);
    return ok;
}

static bool configure(struct trigger *t, const char *text)
{
    struct counts n = {0};
    const char *why = NULL;
    char *copy = memory_text(text); /* its parts are kept */
    bool ok = copy && (t->functions = memory_new((size_t)chain_function_count, 1));
    for (char *rest = copy, *line; ok && (line = strsep(&rest, "\n"));) {
        char *value = strchr(line, ' ');
        if (!*line) continue;
        if (value) *value++ = 0;
        ok = value && read_line(t, &n, line, value, &why);
        if (!ok && !why) why = line;
    }
    const struct program *p = &t->program;
    if (ok && (!t->text || p->count == 0 || p->variables > n.variables || p->load_count > n.values ||
               p->comms > n.names || p->functions > n.functions)) {
        ok = false;
        why = "parts are missing";
    }
    if (!ok) agent_note("trigger: ignored: the configuration is invalid: %s", why ? why : "out of memory");
    for (int i = 0; ok && !t->on && i < chain_function_count; i++) t->functions[i] |= 1;
    return ok;
}

void trigger_configure(void)
{
    triggers = memory_new(TRIGGER_MOST, sizeof *triggers);
    const char *text;
    for (int i = 0; triggers && (text = agent_config("trigger", i)); i++) {
        if (trigger_count == TRIGGER_MOST) {
            agent_note("trigger: more than %d triggers: the others are ignored", TRIGGER_MOST);
            break;
        }
        struct trigger *t = &triggers[trigger_count];
        memset(t, 0, sizeof *t);
        if (!configure(t, text)) continue;
        program_uses(&t->program, &t->uses_arguments, &t->uses_transfers, &t->uses_time);
        for (int k = 0; k < PROGRAM_LOADS; k++) t->uses_arguments |= t->variables[k].follows;
        t->number = (uint32_t)trigger_count++;
    }
}
