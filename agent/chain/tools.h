/* tools.h: shared by functiontools.c and loadtools.c. */
#ifndef MPITX_CHAIN_TOOLS_H
#define MPITX_CHAIN_TOOLS_H

#include "chain/internal.h"
#include "qmpi/connect.h"

#pragma GCC visibility push(hidden)

/* ---- functiontools.c ---- */

extern const struct qmpi_agent chain_qmpi; /* without `closed` and `registered` */

/* Adds a tool inside all others and calls its init callback. False: there are too many, or memory ran out. The path is
 * "" for a tool that the application links. */
bool chain_add_tool(const char *name, void (*init)(int), const char *path);

/* Builds the chain, after all init callbacks. */
void chain_link_tools(void);

/* Writes a line for mpitx if it only checks tools. */
void chain_tell(const char *format, ...) __attribute__((format(printf, 1, 2)));
extern int chain_tell_to; /* a descriptor; -1: none */

#pragma GCC visibility pop

#endif
