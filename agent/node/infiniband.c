/* infiniband.c: the counters of InfiniBand ports: /sys/class/infiniband/DEVICE/ports/NUMBER/counters. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "node/node.h"
#include "run/run.h"

static const struct {
    const char *file;
    uint8_t bits, scale;
} counters[NODE_OF_PORT] = {
#define PORT(name, class, file, bits, scale, description) {#file, bits, scale},
#include "node/names.h"
};

static struct port {
    char name[80], path[320];
    bool has[NODE_OF_PORT], tried;
} ports[NODE_PORTS];
static int count;
bool infiniband_too_many;
static char folder[256], device[64]; /* being looked through */

const char *infiniband_name(int i) { return i < count ? ports[i].name : NULL; }
bool infiniband_has(int port, int counter) { return ports[port].has[counter]; }

static bool find_port(const char *number)
{
    char name[sizeof ports->name];
    if ((size_t)snprintf(name, sizeof name, "%s/%s", device, number) >= sizeof name) return true;
    for (int i = 0; i < count; i++)
        if (strcmp(ports[i].name, name) == 0) return true;
    if (count == NODE_PORTS) {
        infiniband_too_many = true;
        return false;
    }
    struct port *port = &ports[count];
    if ((size_t)snprintf(port->path, sizeof port->path, "%s/%s/ports/%s/counters", folder, device, number) >=
        sizeof port->path)
        return true;
    memcpy(port->name, name, sizeof name);
    for (char *c = port->name; *c; c++)
        if ((unsigned char)*c <= ' ' || (unsigned char)*c > '~' || strchr("@*?[]\\:%", *c)) *c = '_';
    count++;
    return true;
}

static bool find_device(const char *name)
{
    char path[sizeof folder + sizeof device + 16];
    if ((size_t)snprintf(device, sizeof device, "%s", name) >= sizeof device) return true;
    snprintf(path, sizeof path, "%s/%s/ports", folder, device);
    file_folder(path, find_port);
    return true;
}

static void read_one(struct port *port, int k, struct node_counter *counter)
{
    char path[sizeof port->path + 32], text[32], *end;
    snprintf(path, sizeof path, "%s/%s", port->path, counters[k].file);
    long n = file_read(path, text, sizeof text);
    uint64_t value = strtoull(text, &end, 10);
    if (n > 0 && end > text) {
        port->has[k] = true;
        counter_set_limited(counter, value, counters[k].bits, counters[k].scale);
    } else {
        counter->now.status = MPITX_RUN_GONE;
        counter->now.reason = "the counter is gone";
    }
}

/* Reads those that are wanted, as a counter may take the hardware a while, and all of a port that is new. */
void infiniband_read(const char *root, const bool *wanted)
{
    snprintf(folder, sizeof folder, "%s/sys/class/infiniband", root);
    file_folder(folder, find_device);
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < NODE_OF_PORT; k++)
            if (!ports[i].tried || wanted[NODE_IB + i * NODE_OF_PORT + k])
                read_one(&ports[i], k, &node_counters[NODE_IB + i * NODE_OF_PORT + k]);
        ports[i].tried = true;
    }
}
