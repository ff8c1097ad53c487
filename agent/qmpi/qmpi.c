/* qmpi.c: libmpitx-qmpi.so, the symbols of the QMPI draft for tools of any MPI family. The agent loads it if there are
 * tools, and applications that link tools link it. Without the agent, tools can register and nothing calls them. */
#include <pthread.h>
#include <string.h>

#include "qmpi/connect.h"

#define EXPORT __attribute__((visibility("default")))

enum { WITHOUT_AGENT = 16 }; /* MPI_ERR_OTHER or MPI_ERR_UNKNOWN, an error in any case */

static int nothing(void) { return WITHOUT_AGENT; }

#define X(name) QMPI_NUMBER_##name,
enum {
#include "functions.inc"
    FUNCTIONS
};
#undef X

__attribute__((visibility("hidden"))) qmpi_any_function *qmpi_entries[FUNCTIONS] =
    {[0 ... FUNCTIONS - 1] = (qmpi_any_function *)nothing};
EXPORT struct qmpi_connection mpitx_qmpi =
    {.version = QMPI_VERSION, .function_count = FUNCTIONS, .entries = qmpi_entries};

/* ---- QMPI_X: 16 bytes each, which preserve all arguments ---- */

#if defined(__x86_64__) && defined(__LP64__)
#if defined(__CET__) && (__CET__ & 1)
#define LANDING "endbr64\n"
#else
#define LANDING ""
#endif
#define TYPE "@function"
#define JUMP "jmp *qmpi_entries+\\place(%rip)\n"
#elif defined(__aarch64__)
#if defined(__ARM_FEATURE_BTI_DEFAULT)
#define LANDING "hint #34\n"
#else
#define LANDING ""
#endif
#define TYPE "%function"
#define JUMP "adrp x16, qmpi_entries+\\place\n ldr x16, [x16, #:lo12:qmpi_entries+\\place]\n br x16\n"
#endif

#ifdef JUMP
__asm__(".pushsection .text\n.set .Lplace, 0\n"
        ".macro qmpi_entry name, place\n.p2align 4\n.globl \\name\n.type \\name, " TYPE "\n\\name:\n.cfi_startproc\n"
        LANDING JUMP ".cfi_endproc\n.size \\name, . - \\name\n.set .Lplace, .Lplace + 8\n.endm\n"
#define X(name) "qmpi_entry Q" #name ", .Lplace\n"
#include "functions.inc"
#undef X
        ".popsection\n");
#endif

/* ---- the draft's routines ---- */

static enum qmpi_answer add(const char *name, void (*init)(int))
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    struct qmpi_connection *c = &mpitx_qmpi;
    if (!name || !init || !name[0] || strlen(name) >= QMPI_NAME_LENGTH) return QMPI_BAD;
    for (const char *at = name; *at; at++) /* the agent reads and writes names in lines */
        if ((unsigned char)*at < ' ' || *at == 127) return QMPI_BAD;
    pthread_mutex_lock(&lock);
    enum qmpi_answer answer = c->name_count == QMPI_NAMES ? QMPI_LATE : QMPI_DONE;
    for (int i = 0; i < c->name_count; i++)
        if (c->names[i].owner == c->owner && strcmp(c->names[i].name, name) == 0) answer = QMPI_BAD;
    if (answer == QMPI_DONE) {
        struct qmpi_name *new = &c->names[c->name_count];
        strcpy(new->name, name);
        new->init = init;
        new->owner = c->owner;
        __atomic_store_n(&c->name_count, c->name_count + 1, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&lock);
    return answer;
}

EXPORT int MPI_Register_tool_name(const char *tool_name, void (*init)(int))
{
    const struct qmpi_agent *agent = mpitx_qmpi.agent;
    enum qmpi_answer answer = agent && agent->closed() ? QMPI_LATE : add(tool_name, init);
    if (agent) return agent->registered(answer, tool_name);
    return answer == QMPI_DONE ? 0 : WITHOUT_AGENT;
}

EXPORT int MPI_Register_tool_storage(int tool_id, void *storage)
{
    return mpitx_qmpi.agent ? mpitx_qmpi.agent->register_storage(tool_id, storage) : WITHOUT_AGENT;
}

EXPORT int MPI_Register_tool_function(int tool_id, int function, qmpi_any_function *f)
{
    return mpitx_qmpi.agent ? mpitx_qmpi.agent->register_function(tool_id, function, f) : WITHOUT_AGENT;
}

EXPORT int MPI_Get_next_tool_function(int tool_id, int function, qmpi_any_function **f, int *next_tool_id)
{
    return mpitx_qmpi.agent ? mpitx_qmpi.agent->get_function(tool_id, function, f, next_tool_id) : WITHOUT_AGENT;
}

EXPORT int MPI_Get_tool_storage(struct chain_context context, int tool_id, void **storage)
{
    return mpitx_qmpi.agent ? mpitx_qmpi.agent->get_storage(context, tool_id, storage) : WITHOUT_AGENT;
}

EXPORT int MPI_Get_calling_address(struct chain_context context, void **address)
{
    return mpitx_qmpi.agent ? mpitx_qmpi.agent->get_calling_address(context, address) : WITHOUT_AGENT;
}
