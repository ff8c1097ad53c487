/* ask.h: all MPI calls that the agent makes itself, except those of MPI_T and PERUSE. With mpi.h. docs/guide.md has
 * the whole list ("The agent's own calls").
 *
 * An error of such a call would call the application's error handler, or end the application. So a call is made only on
 * a handle that is known to be alive, and with arguments that the library accepts. A handle is alive if a call with it
 * has succeeded, or made it, and its epoch has not changed since then (epochs.h). While the agent asks, another thread
 * that frees an object waits in ask_settle. */
#ifndef MPITX_ASK_H
#define MPITX_ASK_H

#include "mpi/call.h"
#include "mpi/epochs.h"
#include "mpi/handles.h"

#pragma GCC visibility push(hidden)

/* The routines. Only ask.c can call them. */
#define ASK_ROUTINES(X)                                                                                                \
    X(Initialized) X(Query_thread)                                                                                     \
    X(Type_size) X(Type_size_x) X(Get_elements_x) X(Test_cancelled)                                                    \
    X(Comm_rank) X(Comm_size) X(Comm_remote_size) X(Comm_test_inter) X(Comm_get_name) X(Comm_group)                    \
    X(Comm_remote_group) X(Comm_get_parent)                                                                            \
    X(Topo_test) X(Cartdim_get) X(Cart_shift) X(Graph_neighbors_count) X(Dist_graph_neighbors_count)                   \
    X(Graph_neighbors) X(Dist_graph_neighbors)                                                                         \
    X(Win_get_name) X(Win_get_group)                                                                                   \
    X(Group_size) X(Group_rank) X(Group_translate_ranks) X(Group_free)

/* MPI_Isendrecv fills in the status of its receive. MPICH leaves the status unchanged. */
extern bool ask_exchanges_are_filled;

/* After a call that has initialized MPI. -1: unknown */
int ask_thread_level(void);

/* Waits until no other thread asks: after the epoch of an object or the datatypes has changed, before it is freed. */
void ask_settle(void);

/* ---- datatypes and statuses ---- */

/* generation: epochs_of_types while the datatype was alive. False: not known */
bool ask_type_size(MPI_Datatype datatype, uint32_t generation, uint64_t *size);

/* Of a status that a call has filled in. */
uint64_t ask_received(const MPI_Status *status);
bool ask_cancelled(const MPI_Status *status);

/* ---- communicators and windows: false, or null, if they are freed, or if the library refuses to tell ---- */

struct ask_comm {
    int32_t rank, size; /* of the own group */
    int32_t peers;      /* the size of the group that ranks refer to: the remote one in an intercommunicator */
    bool inter;
};
bool ask_comm(uint64_t comm, uint32_t epoch, struct ask_comm *facts);

/* The neighbors that send to this process (in) and receive from it (out), 0 without a topology. */
struct ask_neighbors {
    int32_t in, out;
    uint64_t absent; /* a bit for each neighbor beyond the edge of a Cartesian grid (MPI_PROC_NULL): without buffers */
};
bool ask_neighbors(uint64_t comm, uint32_t epoch, struct ask_neighbors *neighbors);

/* The ranks in the communicator of the neighbors that send to this process. Returns how many they are; -1: it has no
 * topology, they are too many, or they are not known. */
enum { ASK_SOURCES = 256 };
int ask_sources(uint64_t comm, uint32_t epoch, int ranks[ASK_SOURCES]);

enum { ASK_NAME = 1024 }; /* more than any MPI_MAX_OBJECT_NAME */
void ask_name(enum call_object kind, uint64_t object, uint32_t epoch, char name[ASK_NAME]);

/* A group of a communicator or window. The caller frees it. peers: the group that ranks refer to, else the own one */
bool ask_group(enum call_object kind, uint64_t object, uint32_t epoch, bool peers, MPI_Group *group);
bool ask_parents(MPI_Group *group); /* the processes that have spawned this one */

/* ---- groups of the agent ---- */

int ask_group_size(MPI_Group group); /* 0: unknown */
int ask_group_rank(MPI_Group group); /* -1: unknown, or not a member */
/* Ranks of `from` in `to`, MPI_UNDEFINED for those that are not in it. */
bool ask_translate(MPI_Group from, int count, const int *ranks, MPI_Group to, int *found);
void ask_free_group(MPI_Group *group);

/* ---- groups of the application, which the agent remembers from the calls that made them ---- */

void ask_remember_group(uint64_t group);
void ask_forget_group(uint64_t group); /* before it is freed */

/* The ranks of a group's processes in `all`. Returns how many they are; -1: unknown, or more than `most`. */
int ask_members(uint64_t group, MPI_Group all, int *ranks, int most);

#pragma GCC visibility pop

#endif
