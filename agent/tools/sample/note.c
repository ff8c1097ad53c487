/* sampler_note.c: what the run is told in words. */
#define _GNU_SOURCE
#include "tools/sample/sampler.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "tools/tally/virtual.h"

void sampler_note_code(int severity, int code, const char *text)
{
    if (mpitx_run_note(sampler.run, severity, code, text) != 0)
        agent_note("%s", text); /* not lost where there is no run (yet) */
}

void sampler_note(int severity, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    sampler_note_code(severity, MPITX_RUN_NOTE_TEXT, text);
}

/* Only on rank 0: elsewhere the same is missing, or it is there. */
void sampler_offer(const char *name)
{
    static char names[3500]; /* under the lock, or at start */
    static size_t used;
    size_t length = name ? strlen(name) : 0;
    if (agent_process.rank > 0 || length >= sizeof names)
        return;
    if (used && (!name || used + length + 2 > sizeof names)) {
        mpitx_run_note(sampler.run, MPITX_RUN_INFO, MPITX_RUN_NOTE_OFFERED, names);
        used = 0;
    }
    if (name)
        used += (size_t)snprintf(names + used, sizeof names - used, used ? "\n%s" : "%s", name);
}

/* The agent's own notes, those that came since the last time. */
void sampler_tell_notes(void)
{
    int n = agent_note_count();
    for (; sampler.notes_told < n; sampler.notes_told++) {
        const char *text = agent_note_text(sampler.notes_told);
        if (text)
            mpitx_run_note(sampler.run, MPITX_RUN_WARNING, MPITX_RUN_NOTE_TEXT, text);
    }
}

/* What the functions came to, when sampling ends. */
void sampler_tell_functions(void)
{
    static struct mpitx_run_function functions[1024]; /* nothing is allocated by a process that dies */
    static bool told;
    struct virtual_function f;
    uint64_t now = clock_ticks();
    uint32_t n = 0;
    for (int i = 0; !told && i < (int)(sizeof functions / sizeof *functions); i++)
        if (virtual_function(i, now, &f))
            functions[n++] = (struct mpitx_run_function){f.name, f.calls, f.time_ns};
    if (n)
        mpitx_run_functions(sampler.run, functions, n);
    told = true;
}

const char *sampler_rc_name(int rc)
{
    static const char *const names[] = {
        "MPI_SUCCESS", "MPI_T_ERR_INVALID", "MPI_T_ERR_MEMORY", "MPI_T_ERR_NOT_INITIALIZED", "MPI_T_ERR_CANNOT_INIT",
        "MPI_T_ERR_INVALID_INDEX", "MPI_T_ERR_INVALID_ITEM", "MPI_T_ERR_INVALID_HANDLE", "MPI_T_ERR_OUT_OF_HANDLES",
        "MPI_T_ERR_OUT_OF_SESSIONS", "MPI_T_ERR_INVALID_SESSION", "MPI_T_ERR_INVALID_NAME", "MPI_T_ERR_CVAR_SET_NOT_NOW",
        "MPI_T_ERR_CVAR_SET_NEVER", "MPI_T_ERR_PVAR_NO_STARTSTOP", "MPI_T_ERR_PVAR_NO_WRITE", "MPI_T_ERR_PVAR_NO_ATOMIC",
        "MPI_T_ERR_NOT_SUPPORTED", "MPI_T_ERR_NOT_ACCESSIBLE"};
    static _Thread_local char other[48];
    if (rc >= 0 && rc < (int)(sizeof names / sizeof *names))
        return names[rc];
    if (mpitx_error_class(rc))
        return mpitx_error_class(rc);
    snprintf(other, sizeof other, "the library's error %d", rc >= MPITX_ERR_OTHER ? rc - MPITX_ERR_OTHER : rc);
    return other;
}
