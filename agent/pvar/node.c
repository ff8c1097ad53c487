/* node.c: the variables of the node (mpitx:os/…, mpitx:net/…): selecting them, also those of interfaces that come
 * later. They have groups of their own, as they are read in some samples only. Those that all processes of a node share
 * are read by the lowest rank there. */
#define _GNU_SOURCE
#include "node/node.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "pvar/pvar.h"

static bool chosen[NODE_VARIABLES], active, shares;
static unsigned known; /* variables that exist so far */

/* ---- which rank reads what a node's processes share ---- */

static int lowest; /* of the ranks in the file; -1: it has none */

/* "3 4711 885213": a rank, its process and its start. */
static void read_started(char *line)
{
    char *end;
    long rank = strtol(line, &end, 10);
    if (end > line && *end == ' ' && rank >= 0 && (lowest < 0 || rank < lowest)) lowest = (int)rank;
}

/* mpitx adds each rank that it starts to a file for each host before it becomes the program, so that after MPI_Init the
 * file has all ranks of the host that are recorded. */
static bool is_lowest(void)
{
    static const char *const names[] =
        {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "PALS_LOCAL_RANKID", "SLURM_LOCALID"};
    char path[4096], host[65] = "";
    const char *dir = agent_config("dir", 0);
    if (agent_process.first > 0) return false; /* spawned by a process that is recorded */
    gethostname(host, sizeof host - 1);
    for (char *c = host; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr("-_.", *c)) *c = '_';
    lowest = -1;
    if (dir && (size_t)snprintf(path, sizeof path, "%s/started-%s", dir, host) < sizeof path)
        file_lines(path, read_started);
    if (lowest >= 0 && agent_process.rank >= 0) return agent_process.rank <= lowest;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *text = getenv(names[i]);
        if (text && *text) return atol(text) == 0;
    }
    return true;
}

/* ---- variables ---- */

/* Selects from those that are new. */
static void choose(void)
{
    int first = pvar.variable_count;
    unsigned count = 0;
    for (int i = 0; i < NODE_VARIABLES; i++) {
        struct node_info info;
        if (!node_info(i, &info) || !++count || chosen[i]) continue;
        chosen[i] = true;
        if (!pvar_wanted(info.name, info.var_class, true) || (info.shared && !shares)) continue;
        if (node_unknown(i)) {
            agent_report(MPITX_RUN_INFO, "%s: not sampled: %s", info.name, node_unknown(i));
            continue;
        }
        struct pvar_variable v = {.virtual = true, .index = i, .name = memory_text(info.name),
                                  .description = memory_text(info.description), .unit = info.unit,
                                  .var_class = info.var_class, .datatype = MPITX_TYPE_UINT64_T,
                                  .bind = MPITX_BIND_NO_OBJECT, .continuous = true, .size = 8,
                                  .objects = PATTERN_WORLD, .trial = PVAR_GOOD};
        if (!v.name || !v.description || !pvar_add(&v)) break;
        node_want(i);
        active = true;
    }
    known = count;
    if (pvar.variable_count == first) return;
    struct pvar_group *g = pvar_group_late(first);
    if (!g) return;
    g->node = true;
    pvar_group_declare(g);
}

static unsigned existing(void)
{
    unsigned count = 0;
    struct node_info info;
    for (int i = NODE_NET; i < NODE_VARIABLES; i++) count += node_info(i, &info);
    return count + NODE_OWN;
}

/* As for shares of functions, "*" does not select them. */
static bool patterns_want(void)
{
    for (int i = 0; i < pvar.pattern_count; i++)
        if (strchr(pvar.patterns[i].names.glob, '/')) return true;
    return false;
}

void pvar_node_open(void)
{
    const char *root = agent_config("node_root", 0);
    if (!patterns_want()) return;
    shares = is_lowest();
    node_open(root ? root : "");
    choose();
    if (!shares) pvar_matched("mpitx:net/"); /* the lowest rank says so if nothing matches */
    pvar_node_read(clock_ticks(), true);
}

void pvar_node_read(uint64_t now, bool always)
{
    static bool reported;
    if (!active || pvar.node_read) return;
    pvar.node_read = node_read(clock_nanoseconds(now), always);
    if (!pvar.node_read) return;
    if (!pvar.stopped && existing() != known) choose();
    if (!reported && node_left_out()) {
        agent_report(MPITX_RUN_INFO, "%s", node_left_out());
        reported = true;
    }
}
