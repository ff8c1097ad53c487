/* config.c: parses the configuration. */
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/agent.h"

enum { LINES = 512 };
static struct {
    const char *key, *value;
} lines[LINES];
static int line_count;

bool agent_has_key(const char *const *keys, const char *key)
{
    for (; *keys; keys++)
        if (strcmp(*keys, key) == 0) return true;
    return false;
}

/* Replaces \n and \\ in a value, in place. */
static void unescape(char *text)
{
    char *to = text;
    for (; *text; text++) {
        if (*text == '\\' && (text[1] == 'n' || text[1] == '\\')) {
            *to++ = text[1] == 'n' ? '\n' : '\\';
            text++;
        } else {
            *to++ = *text;
        }
    }
    *to = 0;
}

void agent_configure(char *text, bool (*known)(const char *key))
{
    for (char *line = text, *next; line; line = next) {
        next = strchr(line, '\n');
        if (next) *next++ = 0;
        if (!*line) continue;
        char *value = strchr(line, '=');
        if (value) *value++ = 0;
        if (!value || !known(line)) {
            agent_note("configuration: unknown key %s", line);
        } else if (line_count == LINES) {
            agent_note("configuration: too many lines: %s", line);
        } else {
            unescape(value);
            lines[line_count].key = line;
            lines[line_count++].value = value;
        }
    }
}

const char *agent_config(const char *key, int nth)
{
    for (int i = 0; i < line_count; i++)
        if (strcmp(lines[i].key, key) == 0 && nth-- == 0) return lines[i].value;
    return NULL;
}

bool agent_config_is(const char *key, const char *text)
{
    const char *value = agent_config(key, 0);
    return value && strcmp(value, text) == 0;
}

bool agent_config_matches(const char *key, const char *text)
{
    const char *glob;
    for (int i = 0; (glob = agent_config(key, i)); i++)
        if (fnmatch(glob, text, 0) == 0) return true;
    return false;
}

uint64_t agent_config_number(const char *key, uint64_t otherwise)
{
    const char *text = agent_config(key, 0);
    if (!text) return otherwise;
    char *end;
    errno = 0;
    unsigned long long n = strtoull(text, &end, 10);
    if (errno || *end || end == text || *text == '-') {
        agent_note("%s=%s: not a number", key, text);
        return otherwise;
    }
    return n;
}
