/* sockets.c: the process's TCP connections, with what they carried, and the memory that it may share with others. The
 * descriptors are only asked. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <linux/tcp.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/file.h"
#include "tools/paths/paths.h"

enum { SOCKETS = 1024, SHARED = 256, INTERFACES = 64 };

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
    long speed = file_read(path, text, sizeof text) > 0 ? strtol(text, NULL, 10) : 0;
    return speed > 0 ? (uint64_t)speed : 0;
}

static struct ifaddrs *interfaces;
static int found;

static void write_interfaces(void)
{
    found = 0;
    for (const struct ifaddrs *i = interfaces; i && found < INTERFACES; i = i->ifa_next)
        if (i->ifa_addr && i->ifa_addr->sa_family == AF_INET && i->ifa_flags & IFF_UP && !(i->ifa_flags & IFF_LOOPBACK)) {
            paths_add(&(struct paths_seen){.kind = "interface", .name = i->ifa_name, .rank = -1, .code = speed_of(i->ifa_name)});
            found++;
        }
}

static bool write_socket(const char *descriptor)
{
    union address own, other;
    struct tcp_info info;
    char name[160], peer[64];
    int fd = atoi(descriptor);
    if (!ask(fd, &own, &other, &info)) return true;
    if (found == 0 && getifaddrs(&interfaces) != 0) interfaces = NULL;
    write_address(name, sizeof name, &own);
    write_address(peer, sizeof peer, &other);
    size_t length = strlen(name);
    snprintf(name + length, sizeof name - length, " %s %s", peer, interface_of(interfaces, &own));
    paths_add(&(struct paths_seen){.kind = "socket", .name = name, .rank = -1, .id = (uint64_t)fd, .count = info.tcpi_segs_out,
        .bytes = info.tcpi_bytes_acked, .received = info.tcpi_bytes_received, .failed = info.tcpi_total_retrans, .code = info.tcpi_rtt});
    return ++found < SOCKETS;
}

static void write_sockets(void)
{
    found = 0;
    interfaces = NULL;
    file_folder("/proc/self/fd", write_socket);
    write_interfaces();
    if (interfaces) freeifaddrs(interfaces);
}

/* ---- shared memory ---- */

/* A line of /proc/self/maps: the addresses, the permissions, the offset, the device, the inode and the path. */
static void write_shared(char *line)
{
    unsigned long start, end, inode;
    unsigned major, minor;
    char permissions[8];
    int at = 0;
    if (found == SHARED || sscanf(line, "%lx-%lx %7s %*x %x:%x %lu %n", &start, &end, permissions, &major, &minor, &inode, &at) != 6 || !at) return;
    const char *path = line + at;
    bool device = strncmp(path, "/dev/", 5) == 0 && strncmp(path, "/dev/shm/", 9) != 0;
    if (strcmp(permissions, "rw-s") != 0 || !inode || device || strstr(path, "mpitx")) return;
    found++;
    paths_add(&(struct paths_seen){.kind = "memory", .name = path, .rank = -1, .id = inode, .peer = (uint64_t)major << 32 | minor,
        .count = 1, .bytes = end - start});
}

static void write_maps(void)
{
    found = 0;
    file_lines("/proc/self/maps", write_shared);
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
