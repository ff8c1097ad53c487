#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct grid { int n; double *cells; };

static inline __attribute__((always_inline)) double relax(double *cells, int i)
{
    cells[i] = 0.5 * (cells[i - 1] + cells[i + 1]);
    puts("relax");
    return cells[i];
}

static __attribute__((always_inline)) inline double sweep(struct grid *g)
{
    double sum = 0;
    for (int i = 1; i < g->n - 1; i++)
        sum += relax(g->cells, i);
    return sum;
}

__attribute__((noinline, cold)) void fail(const char *what)
{
    fprintf(stderr, "%s\n", what);
    exit(1);
}

static __attribute__((noinline)) int helper_(int n)
{
    if (n < 0)
        fail("negative");
    return printf("%d\n", n);
}

double solve(struct grid *g)
{
    double sum = 0;
    for (int i = 0; i < 3; i++) {
        sum += sweep(g);
        if (sum > 1e9)
            fail("diverges");
    }
    return sum + helper_(g->n);
}

#ifndef NO_MAIN
int main(int argc, char **argv)
{
    struct grid g = {argc + 9, calloc((size_t)argc + 9, sizeof(double))};
    (void)argv;
    return solve(&g) > 1e9;
}
#endif
