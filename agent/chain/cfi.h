/* cfi.h: the frames of another thread's stack, from the unwind tables of its objects. */
#ifndef MPITX_CFI_H
#define MPITX_CFI_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* A call: the return address, and the caller's registers. */
struct cfi_frame {
    uint64_t address;
    uint64_t pointer; /* its stack pointer at the call */
    uint64_t base;    /* its rbp, if `based` */
    bool based;
};

enum cfi_caller { CFI_UNKNOWN, CFI_OUTERMOST, CFI_CALLER };

/* Where the frame of a call's caller is. */
struct cfi_step {
    uint64_t function; /* the function that contains the call begins there */
    int64_t offset;    /* of the frame from the stack pointer, or from rbp if `based` */
    int64_t saved;     /* the caller's rbp is at this offset from the frame; 0: unchanged */
    bool based, base_lost;
};

/* Loads what finds unwind tables; false: it is missing. May take milliseconds. */
bool cfi_start(void);

/* Completes the frame of a wrapper whose address and stack pointer are known. False: the thread has left the call. */
bool cfi_first(struct cfi_frame *frame);

/* Goes on to the call of the function that contains the address. Else the frame is as before, and that function is the
 * outermost one, or its caller is unknown. */
enum cfi_caller cfi_caller(struct cfi_frame *frame);

/* The step from a call that returns to an address, in an object that stays loaded meanwhile; without system calls.
 * False: unknown, or it depends on other registers. */
bool cfi_step(uint64_t address, struct cfi_step *step);

#pragma GCC visibility pop

#endif
