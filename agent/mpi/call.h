/* call.h: what is known of an MPI call, in terms that do not depend on the function or on the library's family. Without mpi.h. */
#ifndef MPITX_CALL_H
#define MPITX_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* An MPI handle as a number that does not depend on the family. Its address is a valid MPI_Comm * (and so on). */
union mpi_handle {
    uint64_t number;
    int small; /* MPICH */
    void *pointer;
};

/* ---- functions ---- */

/* What a function does, as far as the description of its calls goes; the words of prototypes.txt. */
enum call_kind {
    CALL_OTHER,
    CALL_POINT_TO_POINT,
    CALL_COMPLETION, /* wait, test, start and what else works on requests */
    CALL_COLLECTIVE,
    CALL_RMA,
    CALL_IO,
    CALL_TOOL /* MPI_T_* */
};

/* What a function's calls can carry; 0 where nothing is known. */
enum call_traffic {
    CALL_SENDS = 1,     /* messages or bytes leave */
    CALL_RECEIVES = 2,  /* messages or bytes arrive */
    CALL_REQUESTS = 4,  /* starts or completes requests */
    CALL_COMPLETES = 8, /* can complete a receive, or a request that made a communicator */
    CALL_OBJECTS = 16,  /* makes, names or frees communicators or windows */
    CALL_FORWARDS = 32, /* a removed function: libraries jump from it to its successor */
    CALL_FREES = 64     /* frees what is remembered by its handle: datatypes, communicators, windows */
};

struct call_function {
    const char *name; /* "MPI_Send" */
    uint8_t kind;     /* enum call_kind */
    uint8_t traffic;  /* enum call_traffic */
};

/* ---- calls ---- */

#define CALL_NONE (-1000000) /* a peer, tag or root that does not apply */

/* What one call does, filled in by the describe functions (describe.h). */
struct call_description {
    int32_t function;          /* these two are set by the caller of the describe functions */
    bool completions;          /* the hook is to be called for each message */
    bool estimated;            /* received_bytes is what was posted, since the library does not say what came */

    /* From the arguments: */
    int32_t peer;              /* destination, source or root, as the application gave it: a rank in comm */
    int32_t tag;
    uint64_t comm;             /* or the window, or the file */
    const void *requests;      /* the application's MPI_Request array; NULL: none */
    uint64_t made;             /* where the call takes requests: see requests.h */
    int32_t request_count;     /* how many requests the call takes or makes */

    /* After the call, all since it was entered, and 0 for a call that failed: */
    uint32_t sent, received;             /* point-to-point messages */
    uint32_t operations;                 /* collective or one-sided, that started; to MPI_PROC_NULL: none */
    uint32_t started, completed;         /* requests; the latter also in a call that failed */
    uint64_t sent_bytes, received_bytes; /* of those messages */
    uint64_t gave, got;                  /* bytes of collectives and RMA, as the arguments say, and of files; collectives also when
                                            a persistent one starts, in a CALL_COMPLETION function */
    uint64_t read;                       /* bytes from files, of requests that completed */
};

static inline void call_clear(struct call_description *call)
{
    call->estimated = false;
    call->peer = call->tag = CALL_NONE;
    memset(&call->comm, 0, sizeof *call - offsetof(struct call_description, comm));
}

/* A process by the job that it was started in (0: ours; n: the nth that this process has helped to spawn) and its rank in that job's
 * MPI_COMM_WORLD. Either is CALL_NONE where it cannot be known: of processes that were met by connecting, or through sessions. */
struct call_peer {
    int32_t job, rank;
};

#define CALL_PARENT (-1) /* the job that has spawned ours */

/* One message, told once. A message that was sent is told when the call returns that starts sending it, as messages_sent counts it; one
 * that was received when the call returns that completes it. A one-sided operation is told when its call returns, with what it puts as
 * sent and what it gets as received. */
struct call_completion {
    uint64_t comm;          /* or the window; 0 unknown */
    uint64_t bytes;
    int32_t function;       /* that sends it or has posted the receive */
    int32_t peer;           /* where it went to or came from: a rank in comm, of an intercommunicator's other group */
    struct call_peer world; /* the same */
    int32_t tag;            /* CALL_NONE: has none */
    bool received;          /* else sent */
    bool estimated;         /* the library does not say what came: source, tag and bytes are those of the posted receive, which has
                               CALL_NONE for any source or tag */
};

/* ---- what the layers above are told; set once, before anything is described ---- */

enum call_object { CALL_COMM, CALL_WIN };

struct call_hooks {
    /* While a description has `completions`. */
    void (*completed)(const struct call_description *call, const struct call_completion *completion);
    /* Requests that make a communicator: one more, or one less, has yet to complete. */
    void (*pending)(int change);
    /* While call_follows_objects is set. Freeing comes before the call. */
    void (*object_created)(enum call_object kind, union mpi_handle object, int function);
    void (*object_named)(enum call_object kind, union mpi_handle object, const char *name);
    void (*object_freeing)(enum call_object kind, union mpi_handle object);
};

extern struct call_hooks call_hooks __attribute__((visibility("hidden")));
extern bool call_follows_objects __attribute__((visibility("hidden")));

#endif
