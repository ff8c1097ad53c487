/* node.c: the variables of the node, without MPI.
 *
 *     node ROOT       reads whenever a line comes, and prints "NAME VALUE STATUS" of each shared variable, and "."
 *     node sockets    checks the counts of its own sockets
 *     node pace       checks how often it reads
 *     node cost N     prints the mean nanoseconds of N readings of everything, and of parts */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "node/node.h"

static void want(int from, int to)
{
    struct node_info info;
    for (int i = from; i < to; i++)
        if (node_info(i, &info)) node_want(i);
}

static int follow(const char *root)
{
    char line[64];
    node_open(root);
    while (fgets(line, sizeof line, stdin)) {
        struct node_info info;
        want(NODE_NET, NODE_VARIABLES);
        node_read(0, true);
        for (int i = NODE_NET; i < NODE_VARIABLES; i++) {
            struct node_value value = node_value(i);
            if (!node_info(i, &info)) continue;
            printf("%s %llu %d %d\n", info.name + strlen("mpitx:net/"), (unsigned long long)value.value, value.status, value.reason != NULL);
        }
        if (node_left_out()) printf("! %s\n", node_left_out());
        puts(".");
        fflush(stdout);
    }
    return 0;
}

/* ---- sockets ---- */

static int pair[2];

static void connect_pair(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&address, length) || listen(listener, 1) || getsockname(listener, (struct sockaddr *)&address, &length)) exit(9);
    pair[0] = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(pair[0], (struct sockaddr *)&address, length) || (pair[1] = accept(listener, NULL, NULL)) < 0) exit(9);
    close(listener);
}

static void echo(int times)
{
    char byte = 0;
    for (int i = 0; i < times; i++)
        for (int k = 0; k < 2; k++)
            if (write(pair[k], &byte, 1) != 1 || read(pair[!k], &byte, 1) != 1) exit(9);
}

static void expect(const char *what, uint64_t least, uint64_t most, uint64_t connections)
{
    node_read(0, true);
    uint64_t sent = node_value(NODE_SENT).value, now = node_value(NODE_CONNECTIONS).value;
    if (sent < least || sent > most || now != connections || node_value(NODE_SENT).reason || node_value(NODE_RETRANSMITTED).value)
        printf("%s: %llu segments, not %llu to %llu; %llu connections; %llu retransmitted\n", what, (unsigned long long)sent, (unsigned long long)least,
               (unsigned long long)most, (unsigned long long)now, (unsigned long long)node_value(NODE_RETRANSMITTED).value);
}

static int check_sockets(void)
{
    want(NODE_CONNECTIONS, NODE_OWN);
    int other[] = {socket(AF_INET, SOCK_DGRAM, 0), socket(AF_UNIX, SOCK_STREAM, 0), open("/dev/null", O_RDONLY)};
    expect("none", 0, 0, 0);
    connect_pair();
    echo(100);
    expect("a pair", 200, 500, 2);
    node_read(0, true);
    uint64_t before = node_value(NODE_SENT).value;
    int copies[] = {dup(pair[0]), dup(pair[1])};
    expect("two descriptors of each", before, before, 2);
    int moved = dup2(pair[0], 200);
    close(pair[0]);
    close(copies[0]);
    pair[0] = moved;
    expect("moved", before, before, 2);
    echo(50);
    expect("more", before + 100, before + 200, 2);
    node_read(0, true);
    before = node_value(NODE_SENT).value;
    close(pair[0]);
    close(pair[1]);
    close(copies[1]);
    for (int i = 0; i < 4; i++) expect("closed", before, before, 0);
    connect_pair();
    echo(10);
    expect("others", before + 20, before + 60, 2);
    int last = 0, extra;
    while ((extra = dup(0)) >= 0) last = extra;
    node_read(0, true);
    if (!node_value(NODE_SENT).reason) puts("without a free descriptor, it is not known");
    for (int i = 201; i <= last; i++) close(i);
    expect("descriptors are free again", before, UINT64_MAX, 2);
    for (int i = 0; i < 1100; i++) socket(AF_INET, SOCK_STREAM, 0);
    node_read(0, true);
    if (node_value(NODE_CONNECTIONS).value != 1024 || !node_left_out()) puts("more than fit");
    for (size_t i = 0; i < 3; i++)
        if (fcntl(other[i], F_GETFD) < 0) puts("a descriptor was closed");
    puts("done");
    return 0;
}

/* ---- when ---- */

static int check_pace(void)
{
    want(0, NODE_OWN);
    uint64_t now = 1000000000;
    int readings = 0;
    for (int i = 0; i < 1000000; i++, now += 100) readings += node_read(now, false); /* 0.1 s, at each 100 ns */
    uint64_t longest = 0;
    for (int i = 0; i < 50; i++) {
        struct timespec a, b;
        clock_gettime(CLOCK_MONOTONIC, &a);
        node_read(now, true);
        clock_gettime(CLOCK_MONOTONIC, &b);
        uint64_t ns = (uint64_t)(b.tv_sec - a.tv_sec) * 1000000000u + (uint64_t)(b.tv_nsec - a.tv_nsec);
        if (!longest || ns < longest) longest = ns; /* the shortest one of those */
    }
    /* Less than one in a hundred parts of 0.1 s, so at most 1 ms in all. */
    if (readings < 1 || (uint64_t)readings * longest > 2000000) printf("%d readings of %llu ns\n", readings, (unsigned long long)longest);
    puts("done");
    return 0;
}

static double cost(int n)
{
    struct timespec a, b;
    clock_gettime(CLOCK_MONOTONIC, &a);
    for (int i = 0; i < n; i++) node_read(0, true);
    clock_gettime(CLOCK_MONOTONIC, &b);
    return ((double)(b.tv_sec - a.tv_sec) * 1e9 + (double)(b.tv_nsec - a.tv_nsec)) / n;
}

static int print_cost(int n)
{
    int places[] = {0, NODE_MIGRATIONS, NODE_CONNECTIONS, NODE_NET, NODE_VARIABLES};
    double before = 0;
    node_open("");
    connect_pair();
    for (int i = 0; i < 4; i++) {
        want(places[i], places[i + 1]);
        double now = cost(n);
        printf("%.0f ", now - before);
        before = now;
    }
    printf("%.0f\n", before);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc < 2) return 2;
    if (strcmp(argv[1], "sockets") == 0) return check_sockets();
    if (strcmp(argv[1], "pace") == 0) return check_pace();
    if (strcmp(argv[1], "cost") == 0) return print_cost(atoi(argv[2]));
    return follow(argv[1]);
}
