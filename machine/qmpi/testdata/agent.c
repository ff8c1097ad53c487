/* agent.c: answers like the agent's check of tools, without MPI. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static const char *at;
static char names[16][64];
static void (*inits[16])(int);
static int count;

static void tell(const char *word, const char *a, const char *b)
{
    dprintf(3, "%s\t%s%s%s\n", word, a, b ? "\t" : "", b ? b : "");
}

int MPI_Register_tool_name(const char *name, void (*init)(int))
{
    tell("registered", at, name);
    snprintf(names[count], sizeof names[count], "%s", name);
    inits[count++] = init;
    return 0;
}

int MPI_Comm_rank(int comm, int *rank)
{
    (void)comm;
    (void)rank;
    tell("mpi", "MPI_Comm_rank", NULL);
    exit(5);
}

__attribute__((constructor)) static void start(void)
{
    char *configuration = getenv("MPITX_AGENT");
    int id = 0;
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    for (char *line = strtok(strdup(configuration ? configuration : ""), "\n"); line; line = strtok(NULL, "\n")) {
        if (strncmp(line, "tool=", 5) != 0) continue;
        at = line + 5;
        tell("loading", at, NULL);
        count = 0;
        if (!dlopen(at, RTLD_NOW)) tell("error", dlerror(), NULL);
        if (count != 1) continue;
        char number[160];
        snprintf(number, sizeof number, "%d\t%s", ++id, names[0]);
        tell("tool", number, at);
        inits[0](id);
    }
    dprintf(3, "done\n");
    _exit(0);
}
