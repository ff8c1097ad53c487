/* algorithms.h: which functions of the library served a collective call: the decision, the algorithm and its parts.
 *
 *     doors.c       numbered entries in assembler: they preserve all arguments, and jump to the library's function
 *     algorithms.c  which references of the library lead through doors, and what a call has gone through
 *
 * Open MPI's components reach the functions that make up collectives (ompi_coll_base_allreduce_intra_ring) through
 * references to symbols. The references of the library at hand are changed to doors, if this tool is on: so all
 * releases and components are covered, and nothing else in the process can see it. Tools that record ask at the end of
 * a call. */
#ifndef MPITX_TOOLS_ALGORITHMS_H
#define MPITX_TOOLS_ALGORITHMS_H

#include "tools/tool.h"

#pragma GCC visibility push(hidden)

extern bool algorithms_on;

/* The identifier of a text: what served a collective call that is about to return: the names of the functions, in the order in which
 * they were first called, each preceded by "COMPONENT:" if the component is a plug-in of its own, and by "-" if it works on
 * another communicator than the call, separated by spaces; "…" follows if there were more. The empty text: nothing was seen. Only if algorithms_known. */
uint32_t algorithms_text(const struct chain_call *call);

static inline bool algorithms_known(const struct chain_call *call)
{
    return algorithms_on && chain_functions[call->function].kind == CALL_COLLECTIVE;
}

#pragma GCC visibility pop

#endif
