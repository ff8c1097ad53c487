/* interfaces.c: the counters of network interfaces, from /proc/net/dev of the process's network namespace. Interfaces
 * keep their place for good, so that one that goes away and comes back is the same variable. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "node/node.h"
#include "run/run.h"

enum { NAME = 16 /* IFNAMSIZ */ };

static struct interface {
    char raw[NAME], name[3 * NAME];
    bool seen;
} interfaces[NODE_INTERFACES];
static int count;
bool interfaces_too_many;

static const uint8_t columns[NODE_OF_INTERFACE] = {
#define INTERFACE(name, class, column, description) column,
#include "node/names.h"
};

const char *interfaces_name(int i) { return i < count ? interfaces[i].name : NULL; }

/* Names may have any byte but "/", ":" and white space. Those that patterns, objects and terminals would take otherwise
 * are written as %XX. */
static void write_name(const char *raw, char *name)
{
    for (; *raw; raw++) {
        unsigned char c = (unsigned char)*raw;
        bool plain = (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') || strchr("._-+=", c);
        name += plain ? sprintf(name, "%c", c) : sprintf(name, "%%%02X", c);
    }
}

static struct interface *find(const char *raw)
{
    for (int i = 0; i < count; i++)
        if (strcmp(interfaces[i].raw, raw) == 0) return &interfaces[i];
    if (count == NODE_INTERFACES) {
        interfaces_too_many = true;
        return NULL;
    }
    struct interface *one = &interfaces[count];
    snprintf(one->raw, sizeof one->raw, "%s", raw);
    write_name(one->raw, one->name);
    count++;
    return one;
}

/* "  eth0: 988845745   29104    0 …"; only what follows the last colon is numbers. */
static void read_line(char *line)
{
    uint64_t values[16];
    char *colon = strrchr(line, ':'), *at, *end;
    if (!colon) return;
    *colon = 0;
    while (*line == ' ') line++;
    if (!*line || strlen(line) >= NAME) return;
    at = colon + 1;
    for (int i = 0; i < 16; i++, at = end) {
        values[i] = strtoull(at, &end, 10);
        if (end == at) return;
    }
    struct interface *one = find(line);
    if (!one) return;
    one->seen = true;
    struct node_counter *counters = &node_counters[NODE_NET + (one - interfaces) * NODE_OF_INTERFACE];
    for (int k = 0; k < NODE_OF_INTERFACE; k++) counter_set(&counters[k], values[columns[k]]);
}

void interfaces_read(const char *root)
{
    char name[512];
    snprintf(name, sizeof name, "%s/proc/net/dev", root);
    for (int i = 0; i < count; i++) interfaces[i].seen = false;
    bool known = file_lines(name, read_line);
    for (int i = 0; i < count; i++)
        for (int k = 0; k < NODE_OF_INTERFACE && !interfaces[i].seen; k++) {
            struct node_value *value = &node_counters[NODE_NET + i * NODE_OF_INTERFACE + k].now;
            value->status = known ? MPITX_RUN_GONE : MPITX_RUN_ERROR;
            value->reason = known ? "the interface is gone" : "/proc/net/dev could not be read";
        }
}
