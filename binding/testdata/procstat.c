/* Prints what procstat.c reads of this process, whose name contains possible ends of the name. */
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "../procstat.h"

int main(void)
{
    prctl(PR_SET_NAME, "a) Z 7 (b");
    struct procstat self = procstat_read(0), same = procstat_read(getpid()), none = procstat_read(-1);
    printf("%s|%c|%d|%d|%d|%llu\n", self.name, self.state, self.parent == getppid(), self.start == same.start, none.state, (unsigned long long)self.start);
}
