/* forbidden.h: counts what callbacks must not do: allocate, lock, yield, and what a library adds. For libraries that are linked in front of
 * the C library; they increment inside while a callback runs. */
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>

static __thread __attribute__((tls_model("initial-exec"))) int inside; /* a callback */
static _Atomic long forbidden;

static void forbid(void) { forbidden += inside; }

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
extern void __libc_free(void *);
void *malloc(size_t n) { return forbid(), __libc_malloc(n); }
void *calloc(size_t n, size_t size) { return forbid(), __libc_calloc(n, size); }
void *realloc(void *p, size_t n) { return forbid(), __libc_realloc(p, n); }
void free(void *p) { forbid(), __libc_free(p); }

int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    static int (*next)(pthread_mutex_t *);
    if (!next) next = (int (*)(pthread_mutex_t *))dlsym(RTLD_NEXT, "pthread_mutex_lock");
    return forbid(), next(mutex);
}

int sched_yield(void)
{
    static int (*next)(void);
    if (!next) next = (int (*)(void))dlsym(RTLD_NEXT, "sched_yield");
    return forbid(), next();
}
