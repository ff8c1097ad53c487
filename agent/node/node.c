/* node.c: the variables of the node, and when they are read. */
#define _GNU_SOURCE
#include "node/node.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "binding/shim/mpitx.h"
#include "run/run.h"

#define PARTS 100 /* reading takes at most one in this many parts of the time */

#define AND

static const struct definition {
    const char *name, *unit, *description;
    int var_class;
} own[NODE_OWN] = {
#define NODE(name, class, unit, description) {#name, unit, description, MPITX_PVAR_CLASS_##class},
#include "node/names.h"
}, of_interface[NODE_OF_INTERFACE] = {
#define INTERFACE(name, class, column, description) {#name, "", description, MPITX_PVAR_CLASS_##class},
#include "node/names.h"
}, of_port[NODE_OF_PORT] = {
#define PORT(name, class, file, bits, scale, description) {#name, "", description, MPITX_PVAR_CLASS_##class},
#include "node/names.h"
};

static const char *root = "";
static bool wanted[NODE_VARIABLES];
static bool wants_system, wants_sockets, wants_interfaces, wants_ports;
static bool has_migrations;

void node_open(const char *at)
{
    uint64_t migrations;
    root = at;
    has_migrations = system_migrations(&migrations);
    interfaces_read(root);
    infiniband_read(root, wanted);
}

bool node_info(int index, struct node_info *info)
{
    const struct definition *d = NULL;
    int length = 0;
    if (index < 0 || index >= NODE_VARIABLES) return false;
    if (index < NODE_NET) {
        d = &own[index];
        length = snprintf(info->name, sizeof info->name, "mpitx:%s", d->name);
    } else if (index < NODE_IB) {
        const char *name = interfaces_name((index - NODE_NET) / NODE_OF_INTERFACE);
        if (!name) return false;
        d = &of_interface[(index - NODE_NET) % NODE_OF_INTERFACE];
        length = snprintf(info->name, sizeof info->name, "mpitx:net/%s/%s", name, d->name);
    } else {
        int port = (index - NODE_IB) / NODE_OF_PORT, counter = (index - NODE_IB) % NODE_OF_PORT;
        const char *name = infiniband_name(port);
        if (!name || !infiniband_has(port, counter)) return false;
        d = &of_port[counter];
        length = snprintf(info->name, sizeof info->name, "mpitx:net/ib/%s/%s", name, d->name);
    }
    info->description = d->description;
    info->unit = d->var_class == MPITX_PVAR_CLASS_AGGREGATE ? "B" : *d->unit ? d->unit : NULL;
    info->var_class = d->var_class;
    info->shared = index >= NODE_NET;
    return (size_t)length < sizeof info->name;
}

const char *node_unknown(int index)
{
    return index == NODE_MIGRATIONS && !has_migrations ? "the kernel has no /proc/self/sched" : NULL;
}

void node_want(int index)
{
    wanted[index] = true;
    wants_system |= index < NODE_CONNECTIONS;
    wants_sockets |= index >= NODE_CONNECTIONS && index < NODE_NET;
    wants_interfaces |= index >= NODE_NET && index < NODE_IB;
    wants_ports |= index >= NODE_IB;
}

static uint64_t clock_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* A reading may have been interrupted, so the shorter one of two counts. */
bool node_read(uint64_t now, bool always)
{
    static uint64_t due, took;
    if (!always && now < due) return false;
    uint64_t start = clock_now();
    if (wants_system) system_read(wanted);
    if (wants_sockets) sockets_read();
    if (wants_interfaces) interfaces_read(root);
    if (wants_ports) infiniband_read(root, wanted);
    uint64_t took_now = clock_now() - start, least = took && took < took_now ? took : took_now;
    took = took_now;
    due = now + PARTS * least;
    return true;
}

struct node_value node_value(int index) { return node_counters[index].now; }

const char *node_left_out(void)
{
    if (interfaces_too_many) return "the node has more than 64 network interfaces: the others are not sampled";
    if (infiniband_too_many) return "the node has more than 16 InfiniBand ports: the others are not sampled";
    if (sockets_too_many)
        return "the process has more than 1024 TCP sockets or 16384 descriptors: mpitx:net/tcp/* leaves out the others";
    return NULL;
}
