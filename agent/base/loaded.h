/* loaded.h: goes through the loaded objects. The loader's lock is held meanwhile: a signal handler that left by
 * siglongjmp would never release it, and the next dl_iterate_phdr of any thread would wait for ever. */
#ifndef MPITX_LOADED_H
#define MPITX_LOADED_H

#ifndef _GNU_SOURCE
#error "_GNU_SOURCE must be defined before the first header"
#endif

#include <link.h>

#include "base/cancel.h"

static inline int each_loaded(int (*visit)(struct dl_phdr_info *, size_t, void *), void *argument)
{
    struct hold hold = hold_begin();
    int rc = dl_iterate_phdr(visit, argument);
    hold_end(hold);
    return rc;
}

#endif
