/* spawn.c: processes that MPI_Comm_spawn starts are recorded in the same run. They get the configuration in a file,
 * whose name is their MPITX_AGENT: launchers limit the length of arguments, and take no line feeds. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "life/life.h"
#include "run/internal.h"
#include "run/process.h"

#define MOST_BYTES (1 << 20)

static char *configuration, *preload, *asan, *tsan; /* as the agent found them */
static char first_copy[1 << 15], second_copy[1 << 15]; /* no page of them is used unless there is a configuration */

/* Takes no memory, as a process without its configuration could not even say what it lacked. */
static char *keep(char *room, size_t size, const char *text)
{
    return strlen(text) < size ? strcpy(room, text) : memory_text(text); /* never freed */
}

/* ---- in the spawned process ---- */

static char *read_file(const char *path)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0) return NULL;
    char *text = NULL;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() && st.st_size < MOST_BYTES &&
        (text = memory_new(1, (size_t)st.st_size + 1)))
        if (read(fd, text, (size_t)st.st_size) < 0) *text = 0;
    close(fd);
    return text;
}

char *life_configuration(void)
{
    const char *value = getenv(AGENT_VARIABLE);
    int saved = errno;
    configuration = !value ? NULL : *value == '@' ? read_file(value + 1) : keep(first_copy, sizeof first_copy, value);
    errno = saved;
    return configuration ? keep(second_copy, sizeof second_copy, configuration) : NULL;
}

/* ---- in the process that spawns ---- */

/* A variable's value with one more item, as "NAME=value". */
static char *with(const char *name, const char *item)
{
    const char *value = getenv(name);
    return memory_print("%s=%s%s%s", name, value ? value : "", value && *value && *item ? ":" : "", item);
}

void life_keep_environment(void)
{
    int saved = errno;
    preload = with("LD_PRELOAD", "");
    asan = with("ASAN_OPTIONS", "verify_asan_link_order=false"); /* the spawned program may have a sanitizer */
    tsan = with("TSAN_OPTIONS", "ignore_noninstrumented_modules=true");
    errno = saved;
}

/* Writes the configuration, without the lines that are about this process only. */
static bool write_configuration(int fd, const struct call_spawn *spawn, int first)
{
    char lines[512];
    size_t name = strcspn(spawn->command, "\n\\");
    for (const char *line = configuration, *next; *line; line = next) {
        size_t length = strcspn(line, "\n");
        next = line + length + (line[length] == '\n');
        if (strncmp(line, "seen=", 5) == 0 || strncmp(line, "program=", 8) == 0 || strncmp(line, "spawned=", 8) == 0)
            continue;
        if (!run_write_all(fd, line, length) || !run_write_all(fd, "\n", 1)) return false;
    }
    int n = snprintf(lines, sizeof lines, "spawned=%d %d %d\nprogram=%.*s\n", first,
                     agent_process.first + agent_process.rank, spawn->job, (int)(name < 400 ? name : 400),
                     spawn->command);
    return n > 0 && n < (int)sizeof lines && run_write_all(fd, lines, (size_t)n);
}

static void name_file(const struct call_spawn *spawn, char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "%s/spawn-%d-%d", agent_config("dir", 0), agent_process.first + agent_process.rank,
             spawn->job);
}

static bool set_variables(struct call_spawn *spawn, const char *path)
{
    char *variable = memory_print("%s=@%s", AGENT_VARIABLE, path);
    if (!preload || !asan || !tsan || !variable) {
        free(variable);
        return false;
    }
    spawn->variables[0] = variable;
    spawn->variables[1] = preload;
    spawn->variables[2] = asan;
    spawn->variables[3] = tsan;
    spawn->count = CALL_SPAWN_VARIABLES;
    return true;
}

bool life_spawning(struct call_spawn *spawn)
{
    char path[PATH_MAX];
    struct run_signals signals;
    const char *dir = agent_config("dir", 0);
    int saved = errno;
    if (agent_process.state != AGENT_RUNNING || !agent_run || !dir || !configuration || agent_process.rank < 0)
        return false;
    int first = mpitx_run_reserve(dir, agent_process.first + agent_process.size, spawn->processes);
    name_file(spawn, path);
    run_block_sigxfsz(&signals);
    int fd = first < 0 ? -1 : run_open_ours(path, O_EXCL);
    bool ok = fd >= 0 && write_configuration(fd, spawn, first) && set_variables(spawn, path);
    if (fd >= 0) close(fd);
    if (fd >= 0 && !ok) unlink(path);
    run_restore_sigxfsz(&signals);
    errno = saved;
    return ok;
}

void life_spawned(struct call_spawn *spawn)
{
    char path[PATH_MAX];
    int saved = errno;
    name_file(spawn, path);
    unlink(path); /* the processes have called MPI_Init */
    free(spawn->variables[0]);
    errno = saved;
}
