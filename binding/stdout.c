//go:build cgo && linux

/* stdout.c: sees a closed standard output before Go's runtime opens /dev/null in its place, where answers would vanish without an error.
 * What stands there instead fails every write, here and in all that is started, as a closed descriptor does. */
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
