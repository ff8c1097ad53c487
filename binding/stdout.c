//go:build cgo && linux

/* stdout.c: detects a closed standard output before Go's runtime opens /dev/null in its place, where output would be lost without an
 * error. It opens a descriptor that fails every write, here and in child processes, as a closed descriptor does. */
#include <fcntl.h>
#include <unistd.h>

__attribute__((constructor)) static void keep_failing(void)
{
    int fd;
    if (fcntl(1, F_GETFD) >= 0 || (fd = open("/dev/null", O_RDONLY)) < 0 || fd == 1)
        return;
    dup2(fd, 1);
    close(fd);
}
