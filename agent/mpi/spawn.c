/* spawn.c: starts spawned programs with the agent. The agent has removed itself from this process's environment, and
 * few launchers pass an environment on. The command therefore becomes "env NAME=VALUE … command". */
#include "base/memory.h"
#include "mpi/ask.h"
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

/* ---- info objects with the key "path", which the library is not asked about: the program may pass any handle ---- */

enum { INFOS = 256 };
static uint64_t infos_with_path[INFOS]; /* 0: free */
static bool infos_lost;                 /* there were more */

static uint64_t *find_info(uint64_t info)
{
    for (uint64_t *place = infos_with_path; place < infos_with_path + INFOS; place++)
        if (__atomic_load_n(place, __ATOMIC_RELAXED) == info) return place;
    return NULL;
}

static void forget_info(uint64_t info)
{
    uint64_t *place = info ? find_info(info) : NULL;
    if (place) __atomic_compare_exchange_n(place, &info, 0, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

static void remember_info(uint64_t info)
{
    if (!info || find_info(info)) return;
    for (uint64_t *place = infos_with_path; place < infos_with_path + INFOS; place++)
        if (__atomic_compare_exchange_n(place, &(uint64_t){0}, info, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) return;
    __atomic_store_n(&infos_lost, true, __ATOMIC_RELAXED);
}

void describe_info_set(MPI_Info info, const char *key, bool set)
{
    if (!key || strcmp(key, "path") != 0) return;
    (set ? remember_info : forget_info)(HANDLE_NUMBER(info));
}

void describe_info_dup(MPI_Info info, const MPI_Info *copy)
{
    if (find_info(HANDLE_NUMBER(info))) remember_info(HANDLE_NUMBER(*copy));
}

void describe_info_freeing(const MPI_Info *info) { if (info) forget_info(HANDLE_NUMBER(*info)); }

static bool has_path(MPI_Info info)
{
    return info != NULL_INFO && (__atomic_load_n(&infos_lost, __ATOMIC_RELAXED) || find_info(HANDLE_NUMBER(info)));
}

/* ---- commands ---- */

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
    if (!commands || !most || !infos) return false;
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

/* This process's rank in a communicator of the application, which may not be valid; -1: unknown. */
static int known_rank(uint64_t comm, uint32_t epoch)
{
    struct sizes_comm known;
    if (comm == agent_process.world) return agent_process.rank;
    if (comm == agent_process.self) return 0;
    return sizes_find_comm(comm, epoch, &known) ? known.rank : -1;
}

void describe_spawning(struct describe_spawn *spawn, int root, MPI_Comm comm, int count, char **commands, char ***argvs,
                       const int *most, const MPI_Info *infos)
{
    *spawn = (struct describe_spawn){.job = peers_spawning(), .epoch = epochs_now(HANDLE_NUMBER(comm))};
    if (known_rank(HANDLE_NUMBER(comm), spawn->epoch) != root || !call_hooks.spawning) return;
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

void describe_spawned(struct describe_spawn *spawn, int function, int rc, int root, MPI_Comm comm,
                      const MPI_Comm *children)
{
    if (rc == MPI_SUCCESS) {
        union mpi_handle handle = {.number = HANDLE_NUMBER(*children)};
        struct call_creation how = {function, {.number = HANDLE_NUMBER(comm)}, NULL, spawn->job};
        struct ask_comm from, to;
        if (call_follows_objects) call_hooks.object_created(CALL_COMM, handle, &how);
        peers_spawned(handle, spawn->job);
        if (!spawn->commands && ask_comm(HANDLE_NUMBER(comm), spawn->epoch, &from) && from.rank == root &&
            ask_comm(handle.number, epochs_now(handle.number), &to))
            __atomic_fetch_add(&agent_process.spawned, (uint64_t)to.peers, __ATOMIC_RELAXED);
    }
    if (spawn->how.count) call_hooks.spawned(&spawn->how);
    for (int i = 0; i < spawn->count && spawn->lists; i++) free(spawn->lists[i]);
    free(spawn->lists);
    free(spawn->envs);
}
