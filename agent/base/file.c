/* file.c: small files of /proc and /sys. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file.h"

static int open_file(const char *name, int flags) { return open(name, O_RDONLY | O_CLOEXEC | flags); }

static void close_file(int file)
{
    int saved = errno;
    close(file);
    errno = saved;
}

long file_read(const char *name, char *text, size_t size)
{
    int file = open_file(name, 0);
    long n = file < 0 ? -1 : read(file, text, size - 1);
    if (file >= 0) close_file(file);
    text[n > 0 ? n : 0] = 0;
    return n;
}

bool file_lines(const char *name, void (*line)(char *text))
{
    static char text[8192];
    int file = open_file(name, 0);
    size_t used = 0;
    bool skips = false; /* the rest of a line that is too long */
    if (file < 0) return false;
    for (long n; (n = read(file, text + used, sizeof text - 1 - used)) > 0;) {
        char *start = text, *end;
        used += (size_t)n;
        while ((end = memchr(start, '\n', used - (size_t)(start - text))) != NULL) {
            *end = 0;
            if (!skips) line(start);
            skips = false;
            start = end + 1;
        }
        used -= (size_t)(start - text);
        memmove(text, start, used);
        if (used == sizeof text - 1) {
            skips = true;
            used = 0;
        }
    }
    close_file(file);
    return true;
}

bool file_folder(const char *name, bool (*entry)(const char *name))
{
    struct entry {
        uint64_t inode, offset;
        uint16_t length;
        uint8_t type;
        char name[];
    };
    char text[2048] __attribute__((aligned(8)));
    int folder = open_file(name, O_DIRECTORY);
    bool more = true;
    if (folder < 0) return false;
    for (long n; more && (n = syscall(SYS_getdents64, folder, text, sizeof text)) > 0;)
        for (long at = 0; more && at < n;) {
            const struct entry *e = (const struct entry *)(const void *)(text + at);
            if (e->name[0] != '.') more = entry(e->name);
            at += e->length;
        }
    close_file(folder);
    return true;
}
