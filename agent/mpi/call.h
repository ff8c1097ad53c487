/* call.h: the description of an MPI call, independent of the function and of the library's family. Without mpi.h. */
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

/* What a function does, for the description of its calls; the words of prototypes.txt. */
enum call_kind {
    CALL_OTHER,
    CALL_POINT_TO_POINT,
    CALL_COMPLETION, /* wait, test, start and other functions on requests */
    CALL_COLLECTIVE,
    CALL_RMA,
    CALL_IO,
    CALL_TOOL, /* MPI_T_* */
    /* The rest return no error code, and no observer is called for them: */
    CALL_VALUE,
    CALL_CONVERSION /* between languages */
};

/* What a function's calls can carry; 0: unknown. */
enum call_traffic {
    CALL_SENDS = 1,     /* messages or bytes leave */
    CALL_RECEIVES = 2,  /* messages or bytes arrive */
    CALL_REQUESTS = 4,  /* starts or completes requests */
    CALL_COMPLETES = 8, /* can complete a receive, or a request that made a communicator */
    CALL_OBJECTS = 16,  /* makes, names or frees communicators, windows or files */
    CALL_FORWARDS = 32, /* a removed function: libraries jump from it to its successor */
    CALL_FREES = 64, /* frees an object that the agent knows by its handle: a datatype, communicator, window or file */
    CALL_REMEMBERED = 128 /* the agent always remembers its arguments: sizes of datatypes, paths of programs to spawn */
};

struct call_function {
    const char *name; /* "MPI_Send" */
    uint8_t kind;     /* enum call_kind */
    uint8_t traffic;  /* enum call_traffic */
    uint8_t local;    /* its calls are short and local, see prototypes.txt */
};

/* ---- calls ---- */

#define CALL_NONE (-1000000) /* a peer, tag or root that does not apply */

/* What one call does, filled in by the describe functions (describe.h). */
struct call_description {
    int32_t function;          /* these two are set by the caller of the describe functions */
    bool completions;          /* call the hook for each message */
    bool lasted;               /* set by the caller after the call: it took long (chain_report_long) */
    bool estimated;            /* received_bytes is the posted size: the library does not report the received size */
    bool exclusive; /* MPI_Win_lock: an exclusive lock, not with MPI_MODE_NOCHECK */
    bool unsized; /* bytes are missing: the agent does not know a datatype or communicator, and has not asked yet */
    bool asks; /* the call has succeeded, so its handles are alive, and the library may be asked about them */
    uint32_t epoch;            /* of comm, at a time when a call that succeeded has used it; 0 without comm */
    uint32_t types;            /* epochs_of_types before the call, if it is unsized */

    /* From the arguments: */
    int32_t peer;              /* destination, source or root, as the application gave it: a rank in comm */
    int32_t tag;
    int32_t source, source_tag; /* of calls that send and receive; peer and tag are the destination's; else not set */
    uint64_t comm;             /* or the window, or the file */
    uint64_t request;          /* the number of the request, or of the matched message, that it makes; 0: none */
    const void *requests;      /* the application's MPI_Request array; NULL: none */
    uint64_t made;             /* requests_made before a call that takes requests: see requests.h */
    int32_t request_count;     /* how many requests the call takes or makes */

    /* After the call: what happened in it. All are 0 for a call that failed, except `completed`. */
    uint32_t sent, received;             /* point-to-point messages */
    uint32_t operations;                 /* collective or one-sided operations started, except to MPI_PROC_NULL */
    uint32_t started, completed;         /* requests */
    uint64_t sent_bytes, received_bytes; /* of those messages */
    uint64_t gave,
        got;                  /* bytes of collectives and RMA, according to the arguments, and of files; of persistent
                                            collectives when they start, in a CALL_COMPLETION function */
    uint64_t read;                       /* bytes read from files by requests that completed */
};

/* Member by member: compilers turn a memset of this size into an instruction that takes 6 ns to start. */
static inline void call_clear(struct call_description *call)
{
    call->lasted = call->estimated = call->exclusive = call->unsized = call->asks = false;
    call->peer = call->tag = CALL_NONE;
    call->source = call->source_tag = 0;
    call->epoch = 0;
    call->comm = call->request = call->made = 0;
    call->requests = NULL;
    call->request_count = 0;
    call->sent = call->received = call->operations = call->started = call->completed = 0;
    call->sent_bytes = call->received_bytes = call->gave = call->got = call->read = 0;
}

/* A process: the job it was started in (0: ours; n: the nth that this process has helped to spawn) and its rank in that
 * job's MPI_COMM_WORLD, or in the communicator that spawned our job. Either is CALL_NONE if unknown: for processes met
 * by connecting or through sessions. */
struct call_peer {
    int32_t job, rank;
};

#define CALL_PARENT (-1) /* the job that has spawned ours */

/* One message, reported once. A sent message is reported when the call that starts sending it returns, as messages_sent
 * counts it; a received message when the call that completes it returns. A one-sided operation is reported when its
 * call returns; the bytes that it puts are sent, the bytes that it gets are received. */
struct call_completion {
    uint64_t comm;          /* or the window; 0 unknown */
    uint32_t epoch;         /* of comm, while it was alive: it may be freed before its messages arrive */
    uint64_t bytes;
    uint64_t request;       /* the number of the request that sends it, or of the request or matched message of an
                               earlier receive; else 0 */
    int32_t function;       /* the function that sends it or posted the receive */
    int32_t peer;           /* destination or source: a rank in comm, in an intercommunicator's remote group */
    struct call_peer world; /* the same process */
    int32_t tag;            /* CALL_NONE: no tag */
    int32_t partitions;     /* of a partitioned message, which has the next two, too; 0: it is none */
    uint32_t channel;       /* numbers those with its communicator, peer, tag and direction by their initialization; 0: unknown */
    uint32_t start;         /* counts the starts of its request, from 1 */
    bool received;          /* else sent */
    bool estimated;         /* the library does not report what arrived: source, tag and bytes are the posted receive's,
                               with CALL_NONE for any source or tag */
};

/* The request of partitioned messages was made. */
struct call_channel {
    uint64_t comm;
    uint32_t epoch;
    struct call_peer world;
    int32_t tag;
    bool received;
    uint32_t number; /* to be set; see struct call_completion */
};

enum call_restart { CALL_RECEIVE_STARTED, CALL_PARTITIONED_STARTED, CALL_COLLECTIVE_STARTED };

/* What has become of a request that sends or receives a message. MPI_Cancel only asks for it to be cancelled. */
enum call_end { CALL_ENDED, CALL_CANCEL_ASKED, CALL_CANCELLED, CALL_NOT_CANCELLED };

struct call_request_end {
    uint64_t request; /* as in call_completion */
    enum call_end how;
    bool received;
    uint32_t epoch; /* of comm, see struct call_completion; these four are not set if how is CALL_ENDED */
    uint64_t comm;
    struct call_peer world;
    int32_t tag;
};

/* ---- callbacks to the layers above; set once, before the first description ---- */

enum call_object {
    CALL_COMM,
    CALL_WIN,
    CALL_FILE,
    CALL_DATATYPE, /* this one and the following: see follow.h */
    CALL_ERRHANDLER,
    CALL_GROUP,
    CALL_OP,
    CALL_REQUEST,
    CALL_MESSAGE,
    CALL_INFO,
    CALL_SESSION
};

/* How an object was made. */
struct call_creation {
    int function;
    union mpi_handle parent; /* the communicator that it was made from; 0: none */
    const char *name;        /* of a file; else NULL */
    int32_t job;             /* of an intercommunicator with a spawned job: its number; else 0 */
};

/* Processes that this one is about to spawn. */
enum { CALL_SPAWN_VARIABLES = 4 };
struct call_spawn {
    int processes;       /* at most */
    int32_t job;         /* their number, see struct call_peer */
    const char *command; /* the first one */
    char *variables[CALL_SPAWN_VARIABLES]; /* "NAME=value": with these they are recorded, too */
    int count;           /* of variables */
};

struct call_hooks {
    /* Called if a description has `completions`. */
    void (*completed)(const struct call_description *call, const struct call_completion *completion);
    /* Called if it has `completions` and `lasted`, for each request completed that sent a message. */
    void (*send_ended)(const struct call_description *call, struct call_peer to);
    /* Called if it has `completions`, for each request completed that sent a message, or of a collective or file, and for
     * those that MPI_Cancel was called for. For all but these last ones only while call_follows_ends is set. */
    void (*request_ended)(const struct call_description *call, const struct call_request_end *end);
    /* Called if it has `completions`, for each persistent receive or collective that the call starts. */
    void (*restarted)(const struct call_description *call, uint64_t request, enum call_restart what);
    /* Called if it has `completions`, when it has made the request of a partitioned message. */
    void (*channel_made)(const struct call_description *call, struct call_channel *channel);
    /* The number of pending requests that create a communicator has changed by 1 or -1. */
    void (*pending)(int change);
    /* Called while call_follows_objects is set; object_freeing before the object is freed. */
    void (*object_created)(enum call_object kind, union mpi_handle object, const struct call_creation *how);
    void (*object_named)(enum call_object kind, union mpi_handle object, const char *name);
    void (*object_freeing)(enum call_object kind, union mpi_handle object);
    /* Sets the variables; false: the processes will not be recorded. spawned is called afterwards, if it was true. */
    bool (*spawning)(struct call_spawn *spawn);
    void (*spawned)(struct call_spawn *spawn);
    /* A call that may complete this request begins, or has returned: see follow.h. */
    void (*request_taken)(union mpi_handle request, int place);
    void (*request_left)(union mpi_handle request, int place);
};

extern struct call_hooks call_hooks __attribute__((visibility("hidden")));
extern bool call_follows_objects, call_follows_ends __attribute__((visibility("hidden")));

/* The family's numbers for any source, no process, and any tag. */
extern const struct call_wildcards {
    int32_t any_source, proc_null, any_tag;
} call_wildcards __attribute__((visibility("hidden")));

#endif
