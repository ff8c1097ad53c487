/* library.c: opens the library's MPI_T. */
#define _GNU_SOURCE
#include "binding/shim/family.h"
#include "mpi/library.h"
#include "pvar/pvar.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

struct pvar pvar = {.next_object = 3};

bool pvar_open(void)
{
    char missing[128] = "";
    void *handle = agent_process.library && agent_process.library[0]
                   ? dlopen(agent_process.library, RTLD_NOW | RTLD_NOLOAD) : NULL;
    if (!handle) {
        Dl_info info;
        void *init = library_function("MPI_Init");
        if (init && dladdr(init, &info) && info.dli_fname) handle = dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
    }
    if (!handle) {
        agent_note("nothing is sampled: cannot open the MPI library: %s", dlerror());
        return false;
    }
    pvar.table = mpitx_shim_open(handle, missing, sizeof missing);
    if (!pvar.table) {
        agent_note("nothing is sampled: the MPI library lacks %s", missing);
        return false;
    }
    pvar.read_routine = mpi_routine(handle, "MPI_T_pvar_read");
    return true;
}

/* The thread level requested for MPI_T. In Open MPI it becomes the library's level: up to 5.0, MPI_Query_thread returns
 * it; 6.0 locks in every call from then on. So the application's own level is requested. In MPICH it is MPI_T's
 * alone. */
static int level_to_ask(void)
{
    if (strcmp(library_family, "mpich") == 0) return MPITX_THREAD_MULTIPLE;
    return agent_process.thread_level < 0 ? MPITX_THREAD_SINGLE : MPITX_THREAD_SINGLE + agent_process.thread_level;
}

/* While MPI_T is initialized, Open MPI does not finalize with its last session, and the next one cannot communicate. */
static bool must_end_first(void) { return agent_process.sessions && strcmp(library_family, "openmpi") == 0; }

/* Open MPI 6 can end MPI_T before its last session. It has MPI_T events; earlier releases do not. */
static bool can_end_first(void) { return pvar.table->has("MPI_T_event_get_num"); }

bool pvar_init_mpi_t(const char *without)
{
    if (pvar.mpi_t) return true;
    if (must_end_first() && !can_end_first()) {
        agent_note("%s: without MPI_Init, Open MPI could not open another session after MPI_T", without);
        return false;
    }
    int level = 0;
    int rc = pvar.table->t_init_thread(level_to_ask(), &level);
    if (rc != MPITX_SUCCESS) {
        agent_note("%s: MPI_T_init_thread: %s", without, pvar_rc_name(rc));
        return false;
    }
    pvar.t_level = level >= MPITX_THREAD_SINGLE && level <= MPITX_THREAD_MULTIPLE ? level : MPITX_THREAD_SINGLE;
    return pvar.mpi_t = true;
}

void pvar_start_mpi_t(void)
{
    static const char without[] = "the library's variables are not sampled";
    if (!pvar_init_mpi_t(without)) return;
    int rc = pvar.table->pvar_session_create(&pvar.session);
    if (rc != MPITX_SUCCESS) {
        agent_note("%s: MPI_T_pvar_session_create: %s", without, pvar_rc_name(rc));
        pvar.mpi_t = false;
    }
}

/* Otherwise MPI_T is never finalized, as libraries crash then. */
void pvar_before_last_session(void)
{
    if (!pvar.mpi_t || pvar.busy || !must_end_first()) return;
    if (pvar.session) pvar.table->pvar_session_free(&pvar.session); /* with its handles */
    pvar.mpi_t = false;
    pvar.table->t_finalize();
}

const char *pvar_rc_name(int rc)
{
    static const char *const names[] = {
        "MPI_SUCCESS", "MPI_T_ERR_INVALID", "MPI_T_ERR_MEMORY", "MPI_T_ERR_NOT_INITIALIZED", "MPI_T_ERR_CANNOT_INIT",
        "MPI_T_ERR_INVALID_INDEX", "MPI_T_ERR_INVALID_ITEM", "MPI_T_ERR_INVALID_HANDLE", "MPI_T_ERR_OUT_OF_HANDLES",
        "MPI_T_ERR_OUT_OF_SESSIONS", "MPI_T_ERR_INVALID_SESSION", "MPI_T_ERR_INVALID_NAME",
        "MPI_T_ERR_CVAR_SET_NOT_NOW",
        "MPI_T_ERR_CVAR_SET_NEVER", "MPI_T_ERR_PVAR_NO_STARTSTOP", "MPI_T_ERR_PVAR_NO_WRITE",
        "MPI_T_ERR_PVAR_NO_ATOMIC",
        "MPI_T_ERR_NOT_SUPPORTED", "MPI_T_ERR_NOT_ACCESSIBLE"};
    static _Thread_local char other[48];
    if (rc >= 0 && rc < (int)(sizeof names / sizeof *names)) return names[rc];
    if (mpitx_error_class(rc)) return mpitx_error_class(rc);
    snprintf(other, sizeof other, "error %d of the library", rc >= MPITX_ERR_OTHER ? rc - MPITX_ERR_OTHER : rc);
    return other;
}

const char *pvar_object_word(int bind)
{
    static const char *const words[MPITX_BIND_MPI_SESSION + 1] = {
        [MPITX_BIND_MPI_COMM] = "a communicator", [MPITX_BIND_MPI_DATATYPE] = "a datatype",
        [MPITX_BIND_MPI_ERRHANDLER] = "an error handler", [MPITX_BIND_MPI_FILE] = "a file",
        [MPITX_BIND_MPI_GROUP] = "a group", [MPITX_BIND_MPI_OP] = "an operation",
        [MPITX_BIND_MPI_REQUEST] = "a request", [MPITX_BIND_MPI_WIN] = "a window",
        [MPITX_BIND_MPI_MESSAGE] = "a matched message", [MPITX_BIND_MPI_INFO] = "an info object",
        [MPITX_BIND_MPI_SESSION] = "a session"};
    return words[bind];
}
