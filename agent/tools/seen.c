/* seen.c: writes lines to a file of the front, for when nothing is recorded: which programs loaded the agent and called
 * MPI_Init (seen), and why one of them, and which rank, has no run (also unseen, which ranks other than 0 have). */
#define _GNU_SOURCE
#include "tools/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run/internal.h"

#define MAX_BYTES 65536 /* a script may start any number of programs */

static void write_line(const char *path, const char *what, const char *why)
{
    char line[512];
    struct stat st;
    struct run_signals signals;
    if (!path) return;
    int saved = errno, fd = open(path, O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    int n = snprintf(line, sizeof line - 1, "%s\t%s\t%d\t%s", what, program_invocation_short_name,
                     agent_process.first ? -1 : agent_process.rank, why);
    if (n > 0 && fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size < MAX_BYTES) {
        size_t length = (size_t)n < sizeof line - 1 ? (size_t)n : sizeof line - 2;
        line[length++] = '\n';
        run_block_sigxfsz(&signals);
        run_write_all(fd, line, length);
        run_restore_sigxfsz(&signals);
    }
    if (fd >= 0) close(fd);
    errno = saved;
}

static const char *seen(void) { return agent_config("seen", 0); }
static void loaded(void) { write_line(seen(), "loaded", ""); }
static void entering(void) { write_line(seen(), "entered", ""); }
static void unrecorded(const char *why) { write_line(seen() ? seen() : agent_config("unseen", 0), "unrecorded", why); }

static const char *const keys[] = {"seen", "unseen", NULL};

const struct agent_tool seen_tool =
    {.name = "seen", .keys = keys, .loaded = loaded, .entering = entering, .unrecorded = unrecorded};
