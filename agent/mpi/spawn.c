/* spawn.c: starts spawned programs with the agent. The agent has removed itself from this process's environment, and few launchers pass an
 * environment on. The command therefore becomes "env NAME=VALUE … command". */
#include "base/memory.h"
#include "mpi/describe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_PROCESSES (1 << 20)

static const char env[] = "/usr/bin/env";

static int length_of(char **list)
{
    int n = 0;
    while (list && list[n]) n++; /* MPI_ARGV_NULL is a null pointer */
    return n;
}

static bool has_path(MPI_Info info)
{
    char value[8];
    int flag = 0;
    if (info == NULL_INFO) return false;
    return !mpi.Info_get || mpi.Info_get(info, "path", sizeof value - 1, value, &flag) != MPI_SUCCESS || flag;
}

/* Whether env would find a command as the launcher does. If not, MPI_Comm_spawn reports the error. */
static bool is_found(const char *command, MPI_Info info)
{
    char path[4096];
    const char *folders = getenv("PATH");
    if (strchr(command, '=')) return false; /* env would take it for a variable */
    if (strchr(command, '/')) return access(command, X_OK) == 0;
    if (has_path(info)) return false;
    for (const char *folder = folders; folder; folder = strchr(folder, ':'), folder += folder != NULL) {
        int n = snprintf(path, sizeof path, "%.*s/%s", (int)strcspn(folder, ":"), folder, command);
        if (n > 0 && n < (int)sizeof path && access(path, X_OK) == 0) return true;
    }
    return false;
}

static bool are_found(char **commands, int count, const int *most, const MPI_Info *infos, int *processes)
{
    *processes = 0;
    for (int i = 0; i < count; i++) {
        if (most[i] < 0 || most[i] > MOST_PROCESSES || !commands[i] || !is_found(commands[i], infos[i])) return false;
        if ((*processes += most[i]) > MOST_PROCESSES) return false;
    }
    return *processes > 0 && access(env, X_OK) == 0;
}

/* The arguments of env for a command, in one block of memory. */
static char **arguments_of(const struct call_spawn *how, char *command, char **argv)
{
    int count = length_of(argv), variables = how->count;
    char **list = memory_get((size_t)(variables + 1 + count + 1) * sizeof *list);
    if (!list) return NULL;
    for (int i = 0; i < variables; i++) list[i] = how->variables[i];
    list[variables] = command;
    if (count) memcpy(&list[variables + 1], argv, (size_t)count * sizeof *list);
    list[variables + 1 + count] = NULL;
    return list;
}

void describe_spawning(struct describe_spawn *spawn, int root, MPI_Comm comm, int count, char **commands, char ***argvs, const int *most, const MPI_Info *infos)
{
    int rank = -1;
    *spawn = (struct describe_spawn){.job = peers_spawning()};
    if (mpi.Comm_rank(comm, &rank) != MPI_SUCCESS || rank != root || !call_hooks.spawning) return;
    if (count <= 0 || count > MOST_PROCESSES || !are_found(commands, count, most, infos, &spawn->how.processes)) return;
    spawn->how.job = spawn->job;
    spawn->how.command = commands[0];
    if (!call_hooks.spawning(&spawn->how)) return;
    char **envs = memory_new((size_t)count, sizeof *envs), ***lists = memory_new((size_t)count, sizeof *lists);
    bool made = envs && lists;
    for (int i = 0; i < count && made; i++) {
        envs[i] = (char *)env;
        made = (lists[i] = arguments_of(&spawn->how, commands[i], argvs ? argvs[i] : NULL)) != NULL;
    }
    spawn->count = count;
    spawn->lists = lists;
    spawn->envs = envs;
    if (!made) return;
    spawn->commands = envs;
    spawn->argvs = lists;
}

void describe_spawned(struct describe_spawn *spawn, int function, int rc, int root, MPI_Comm comm, const MPI_Comm *children)
{
    if (rc == MPI_SUCCESS) {
        union mpi_handle handle = {.number = HANDLE_NUMBER(*children)};
        struct call_creation how = {function, {.number = HANDLE_NUMBER(comm)}, NULL, spawn->job};
        int rank = -1, count = 0;
        if (call_follows_objects) call_hooks.object_created(CALL_COMM, handle, &how);
        peers_spawned(handle, spawn->job);
        if (!spawn->commands && mpi.Comm_rank(comm, &rank) == MPI_SUCCESS && rank == root && mpi.Comm_remote_size(*children, &count) == MPI_SUCCESS && count > 0)
            __atomic_fetch_add(&agent_process.spawned, (uint64_t)count, __ATOMIC_RELAXED);
    }
    if (spawn->how.count) call_hooks.spawned(&spawn->how);
    for (int i = 0; i < spawn->count && spawn->lists; i++) free(spawn->lists[i]);
    free(spawn->lists);
    free(spawn->envs);
}
