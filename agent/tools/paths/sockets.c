/* sockets.c: the process's TCP connections, with what they carried, and the memory that it may share with others. The
 * descriptors are only asked. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <linux/tcp.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/paths/paths.h"

enum { DESCRIPTORS = 65536, SOCKETS = 1024, SHARED = 256, INTERFACES = 64 };

union address {
    struct sockaddr any;
    struct sockaddr_in four;
    struct sockaddr_in6 six;
};

/* The four bytes of an address of IPv4, also if it is written as one of IPv6. */
static const void *four_of(const union address *a)
{
    if (a->any.sa_family == AF_INET) return &a->four.sin_addr;
    return a->any.sa_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&a->six.sin6_addr) ? (const char *)&a->six.sin6_addr + 12 : NULL;
}

static void write_address(char *text, size_t size, const union address *a)
{
    char host[INET6_ADDRSTRLEN] = "?";
    const void *four = four_of(a);
    inet_ntop(four ? AF_INET : AF_INET6, four ? four : &a->six.sin6_addr, host, sizeof host);
    snprintf(text, size, four ? "%s:%u" : "[%s]:%u", host, ntohs(a->any.sa_family == AF_INET ? a->four.sin_port : a->six.sin6_port));
}

static bool same_host(const union address *a, const union address *b)
{
    const void *x = four_of(a), *y = four_of(b);
    if (x || y) return x && y && memcmp(x, y, 4) == 0;
    return a->any.sa_family == AF_INET6 && b->any.sa_family == AF_INET6 && memcmp(&a->six.sin6_addr, &b->six.sin6_addr, 16) == 0;
}

static const char *interface_of(const struct ifaddrs *all, const union address *a)
{
    for (const struct ifaddrs *i = all; i; i = i->ifa_next)
        if (i->ifa_addr && (i->ifa_addr->sa_family == AF_INET || i->ifa_addr->sa_family == AF_INET6) &&
            same_host((const union address *)(const void *)i->ifa_addr, a))
            return i->ifa_name;
    return "?";
}

static bool ask(int fd, union address *own, union address *other, struct tcp_info *info)
{
    int protocol = 0;
    socklen_t size = sizeof protocol, own_size = sizeof *own, other_size = sizeof *other, info_size = sizeof *info;
    memset(info, 0, sizeof *info);
    return getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &size) == 0 && protocol == IPPROTO_TCP &&
           getsockname(fd, &own->any, &own_size) == 0 && getpeername(fd, &other->any, &other_size) == 0 &&
           (own->any.sa_family == AF_INET || own->any.sa_family == AF_INET6) &&
           getsockopt(fd, IPPROTO_TCP, TCP_INFO, info, &info_size) == 0;
}

/* The speed of an interface, in Mbit/s; 0: unknown. */
static uint64_t speed_of(const char *name)
{
    char path[128], text[32];
    snprintf(path, sizeof path, "/sys/class/net/%.32s/speed", name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd >= 0 ? read(fd, text, sizeof text - 1) : 0;
    if (fd >= 0) close(fd);
    text[length > 0 ? length : 0] = 0;
    long speed = strtol(text, NULL, 10);
    return speed > 0 ? (uint64_t)speed : 0;
}

static void write_interfaces(const struct ifaddrs *all)
{
    int found = 0;
    for (const struct ifaddrs *i = all; i && found < INTERFACES; i = i->ifa_next)
        if (i->ifa_addr && i->ifa_addr->sa_family == AF_INET && i->ifa_flags & IFF_UP && !(i->ifa_flags & IFF_LOOPBACK)) {
            paths_add(&(struct paths_seen){.kind = "interface", .name = i->ifa_name, .rank = -1, .code = speed_of(i->ifa_name)});
            found++;
        }
}

static void write_sockets(void)
{
    struct rlimit limit = {0, 0};
    struct ifaddrs *interfaces = NULL;
    bool asked = false;
    int found = 0;
    getrlimit(RLIMIT_NOFILE, &limit);
    for (int fd = 0; fd < DESCRIPTORS && (rlim_t)fd < limit.rlim_cur && found < SOCKETS; fd++) {
        union address own, other;
        struct tcp_info info;
        char name[160], peer[64];
        if (!ask(fd, &own, &other, &info)) continue;
        if (!asked && getifaddrs(&interfaces) != 0) interfaces = NULL;
        asked = true;
        write_address(name, sizeof name, &own);
        write_address(peer, sizeof peer, &other);
        size_t length = strlen(name);
        snprintf(name + length, sizeof name - length, " %s %s", peer, interface_of(interfaces, &own));
        paths_add(&(struct paths_seen){.kind = "socket", .name = name, .rank = -1, .id = (uint64_t)fd, .count = info.tcpi_segs_out,
            .bytes = info.tcpi_bytes_acked, .received = info.tcpi_bytes_received, .failed = info.tcpi_total_retrans, .code = info.tcpi_rtt});
        found++;
    }
    write_interfaces(interfaces);
    if (interfaces) freeifaddrs(interfaces);
}

/* ---- shared memory ---- */

/* A line of /proc/self/maps: the addresses, the permissions, the offset, the device, the inode and the path. */
static void write_shared(const char *line)
{
    unsigned long start, end, inode;
    unsigned major, minor;
    char permissions[8];
    int at = 0;
    if (sscanf(line, "%lx-%lx %7s %*x %x:%x %lu %n", &start, &end, permissions, &major, &minor, &inode, &at) != 6 || !at) return;
    const char *path = line + at;
    bool device = strncmp(path, "/dev/", 5) == 0 && strncmp(path, "/dev/shm/", 9) != 0;
    if (strcmp(permissions, "rw-s") != 0 || !inode || device || strstr(path, "mpitx")) return;
    paths_add(&(struct paths_seen){.kind = "memory", .name = path, .rank = -1, .id = inode, .peer = (uint64_t)major << 32 | minor,
        .count = 1, .bytes = end - start});
}

static void write_maps(void)
{
    static char text[1 << 14];
    size_t have = 0;
    int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC), found = 0;
    for (ssize_t got; fd >= 0 && found < SHARED && (got = read(fd, text + have, sizeof text - 1 - have)) > 0;) {
        have += (size_t)got;
        text[have] = 0;
        char *line = text, *end;
        for (; (end = strchr(line, '\n')) && found < SHARED; line = end + 1) {
            *end = 0;
            if (strstr(line, " rw-s ")) found++, write_shared(line);
        }
        have -= (size_t)(line - text);
        memmove(text, line, have);
    }
    if (fd >= 0) close(fd);
}

/* IDs of processes mean the same only in one namespace. */
static void write_namespace(void)
{
    char name[64];
    ssize_t length = readlink("/proc/self/ns/pid", name, sizeof name - 1);
    if (length <= 0) return;
    name[length] = 0;
    paths_add(&(struct paths_seen){.kind = "process", .name = name, .rank = -1, .id = (uint64_t)getpid()});
}

/* Modules of the kernel that copy from process to process, and cannot be followed. */
static void write_devices(void)
{
    static const char *const devices[] = {"/dev/knem", "/dev/xpmem", NULL};
    for (int i = 0; devices[i]; i++)
        if (access(devices[i], F_OK) == 0) paths_add(&(struct paths_seen){.kind = "device", .name = devices[i], .rank = -1});
}

void sockets_write(void)
{
    write_devices();
    write_namespace();
    write_sockets();
    write_maps();
}
