/* sockets.c: what the process's own TCP sockets sent. Each descriptor is asked with getsockopt, which changes nothing;
 * one that is closed or reused meanwhile answers for what it is then. A socket is known by the kernel's cookie, so that
 * a second descriptor of it counts once. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "node/node.h"

enum { SOCKETS = 1024, DESCRIPTORS = 16384, TCP = 6, OPTION_TCP_INFO = 11, OPTION_COOKIE = 57 };
enum { RETRANSMITTED = 100, SENT = 136, INFO = 256 }; /* places in the kernel's struct tcp_info, which only grows */

static struct socket {
    uint64_t cookie, sent, retransmitted;
    uint32_t sent_last, retransmitted_last; /* the kernel's numbers, which wrap */
    uint8_t unseen; /* in how many readings */
} sockets[SOCKETS];
static int count, next; /* next: where the next one of the last reading is likely to be */
static uint64_t ended_sent, ended_retransmitted;
static unsigned descriptors;
static const char *unknown; /* why the sockets do not tell */
bool sockets_too_many;

static bool ask(int descriptor, int level, int option, void *answer, socklen_t *length)
{
    return syscall(SYS_getsockopt, descriptor, level, option, answer, length) == 0;
}

static struct socket *find(uint64_t cookie)
{
    for (int i = 0; i < count; i++) {
        int at = (next + i) % count;
        if (sockets[at].cookie != cookie) continue;
        next = at + 1;
        return &sockets[at];
    }
    if (count == SOCKETS) {
        sockets_too_many = true;
        return NULL;
    }
    sockets[count] = (struct socket){.cookie = cookie};
    return &sockets[count++];
}

static bool cookie_of(int descriptor, uint64_t *cookie)
{
    socklen_t length = sizeof *cookie;
    return ask(descriptor, SOL_SOCKET, OPTION_COOKIE, cookie, &length);
}

static bool read_descriptor(const char *name)
{
    uint32_t info[INFO / 4];
    uint64_t cookie = 0, after = 0;
    socklen_t length = sizeof info;
    int descriptor = atoi(name);
    if (++descriptors > DESCRIPTORS) {
        sockets_too_many = true;
        return false;
    }
    bool knows = cookie_of(descriptor, &cookie);
    if (!knows && errno != ENOPROTOOPT) return true; /* no socket */
    if (!ask(descriptor, TCP, OPTION_TCP_INFO, info, &length)) return true; /* no TCP socket */
    if (!knows || length < SENT + 4) unknown = "the kernel does not say what a socket has sent";
    if (!cookie_of(descriptor, &after) || after != cookie || unknown) return true; /* another one meanwhile */
    struct socket *one = find(cookie);
    if (!one) return true;
    one->unseen = 0;
    one->retransmitted += info[RETRANSMITTED / 4] - one->retransmitted_last;
    one->sent += info[SENT / 4] - one->sent_last;
    one->retransmitted_last = info[RETRANSMITTED / 4];
    one->sent_last = info[SENT / 4];
    return true;
}

/* What a socket sent that has been closed is kept. One may be missed while the program moves it to another
 * descriptor. */
static void forget_closed(void)
{
    for (int i = 0; i < count;) {
        if (sockets[i].unseen < 2) {
            i++;
            continue;
        }
        ended_sent += sockets[i].sent;
        ended_retransmitted += sockets[i].retransmitted;
        memmove(&sockets[i], &sockets[i + 1], (size_t)(--count - i) * sizeof *sockets); /* keeps the order */
    }
}

void sockets_read(void)
{
    uint64_t sent, retransmitted, connections = 0;
    const char *lost = NULL;
    descriptors = 0;
    next = 0;
    for (int i = 0; i < count; i++) sockets[i].unseen++;
    if (file_folder("/proc/self/fd", read_descriptor))
        forget_closed();
    else
        lost = "/proc/self/fd could not be read";
    if (!lost) lost = unknown;
    sent = ended_sent;
    retransmitted = ended_retransmitted;
    for (int i = 0; i < count; i++) {
        connections += sockets[i].unseen == 0;
        sent += sockets[i].sent;
        retransmitted += sockets[i].retransmitted;
    }
    counter_set_level(&node_counters[NODE_CONNECTIONS], connections);
    counter_set(&node_counters[NODE_SENT], sent);
    counter_set(&node_counters[NODE_RETRANSMITTED], retransmitted);
    for (int i = NODE_CONNECTIONS; lost && i <= NODE_RETRANSMITTED; i++) counter_lost(&node_counters[i], lost);
}
