/* layers.h: the settings of what MPI builds on. */
#ifndef MPITX_LAYERS_H
#define MPITX_LAYERS_H

/* layers_settings writes to standard output what the UCX and libfabric of this process say of their settings, also of those in the
 * environment. */
void layers_settings(void);

#endif
