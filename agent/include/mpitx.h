/* mpitx.h: names the phases of an application for profiles by mpitx. For applications; include it after mpi.h, or
 * without.
 *
 *     mpitx_phase_begin("solve");
 *     …
 *     mpitx_phase_end();
 *
 * Phases can be nested; a call belongs to the innermost one. They belong to the calling thread, and those of the thread
 * that called MPI_Init also to threads that have not begun one. Without mpitx, these calls do nothing: they are calls
 * of MPI_Pcontrol, with levels that no library uses. No other library has to be linked. mpitx.f90 is for Fortran. */
#ifndef MPITX_PHASES_H
#define MPITX_PHASES_H

#include <mpi.h>

/* Levels of MPI_Pcontrol. The name of the phase follows MPITX_PHASE_BEGIN. */
#define MPITX_PHASE_BEGIN 0x4d545801
#define MPITX_PHASE_END 0x4d545802

static inline void mpitx_phase_begin(const char *name)
{
    MPI_Pcontrol(MPITX_PHASE_BEGIN, name);
}

static inline void mpitx_phase_end(void)
{
    MPI_Pcontrol(MPITX_PHASE_END);
}

#endif
