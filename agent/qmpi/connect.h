/* connect.h: the connection between libmpitx-qmpi.so and the agent. Without mpi.h. */
#ifndef MPITX_QMPI_CONNECT_H
#define MPITX_QMPI_CONNECT_H

#include <stdint.h>

enum { QMPI_VERSION = 1, QMPI_NAMES = 64, QMPI_NAME_LENGTH = 256 };

typedef void qmpi_any_function(void);

/* A context is one pointer, passed by value, like MPICH's QMPI_Context. Opaque to tools. */
struct chain_call;
struct chain_context {
    const struct chain_call *call;
};

/* A name that MPI_Register_tool_name has registered. */
struct qmpi_name {
    char name[QMPI_NAME_LENGTH];
    void (*init)(int tool_id);
    int owner; /* the library that the agent was loading; 0: none, so the application links the tool */
};

/* Why a registration fails. */
enum qmpi_answer { QMPI_DONE, QMPI_BAD, QMPI_LATE };

struct qmpi_agent {
    int (*closed)(void);                                          /* whether it is too late to register a name */
    int (*registered)(enum qmpi_answer answer, const char *name); /* returns the error code of the MPI library */
    int (*register_storage)(int tool_id, void *storage);
    int (*register_function)(int tool_id, int function, qmpi_any_function *f);
    int (*get_function)(int tool_id, int function, qmpi_any_function **f, int *next_tool_id);
    int (*get_storage)(struct chain_context context, int tool_id, void **storage);
    int (*get_calling_address)(struct chain_context context, void **address);
};

/* The symbol mpitx_qmpi of libmpitx-qmpi.so. */
struct qmpi_connection {
    uint32_t version, function_count; /* QMPI_VERSION; the lines of functions.txt */
    qmpi_any_function **entries;      /* where QMPI_X jumps to, by the number of X */
    const struct qmpi_agent *agent;   /* NULL: no agent has connected */
    int owner;                        /* for names that are being registered */
    int name_count;
    struct qmpi_name names[QMPI_NAMES];
};

#endif
