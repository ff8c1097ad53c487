/* program.h: a condition as a program in postfix notation, as mpitx compiles it (condition/program.go).
 *
 * The words of a program:
 *     n<16 hexadecimal digits>                      a number: the bits of a double
 *     bytes sent received peer tag root time        arguments of the call
 *     comm:world comm:self comm:K function:K        1 or 0: whether it is the Kth name
 *     vK:MODE[:ns]                                  the Kth variable: sum, max, min, delta, rate, or an element's
 *                                                   number
 *     eq ne lt le gt ge and or not
 *     if:N unless:N                                 skips N words if the last operand is false, true
 * An operand that does not exist is NaN. A comparison with NaN is NaN, which is neither true nor false. */
#ifndef MPITX_TRIGGER_PROGRAM_H
#define MPITX_TRIGGER_PROGRAM_H

#include "chain/chain.h"

#pragma GCC visibility push(hidden)

enum { PROGRAM_WORDS = 64, PROGRAM_STACK = 16, PROGRAM_LOADS = 8, PROGRAM_NAMES = 8 };

enum program_mode { PROGRAM_SUM, PROGRAM_MAX, PROGRAM_MIN, PROGRAM_DELTA, PROGRAM_RATE, PROGRAM_ELEMENT };

/* A variable that the program reads. */
struct program_load {
    uint8_t variable, mode; /* enum program_mode */
    bool nanoseconds;
    uint32_t element;
};

struct program_word {
    uint8_t code, argument; /* argument: of a load, name or function */
    uint8_t skip;
    double number;
};

struct program {
    struct program_word words[PROGRAM_WORDS];
    struct program_load loads[PROGRAM_LOADS];
    int count, load_count;
    int variables, comms, functions; /* how many the program refers to */
};

/* What the program is run with. */
struct program_subject {
    const struct chain_call *call;
    double (*load)(struct program_subject *subject, int load); /* the value of a variable; NaN: none */
    bool (*comm)(const struct program_subject *subject, int name);
    bool (*function)(const struct program_subject *subject, int name);
};

/* Returns NULL, or why the text is not a program. It then has at most the given numbers of each kind of name. */
const char *program_parse(struct program *program, const char *text);

/* What the program needs of a call. */
void program_uses(const struct program *program, bool *arguments, bool *transfers, bool *time);

/* 1: true, 0: false, NaN: neither. */
double program_run(const struct program *program, struct program_subject *subject);

#pragma GCC visibility pop

#endif
