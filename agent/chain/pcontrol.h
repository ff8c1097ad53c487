/* pcontrol.h: the wrapper of MPI_Pcontrol, the only variadic function. Included by wrappers.c.
 *
 * The arguments after the level are for other tools. A recorded call passes on as many words as fit in registers and in
 * the eight places after them, and all floating-point registers. In calling conventions with two kinds of registers,
 * the arguments of each kind are in order, and it is unknown how many there are. */

#include <stdarg.h>

typedef int type_MPI_Pcontrol(const int level, ...);
typedef int tool_MPI_Pcontrol(struct chain_context, int, const int level, ...);

struct pcontrol_arguments {
    long word[15];
    double number[8];
};

#define PCONTROL_READ(a, level)                                                                                        \
    do {                                                                                                               \
        va_list arguments_;                                                                                            \
        va_start(arguments_, level);                                                                                   \
        for (int i_ = 0; i_ < 15; i_++) (a).word[i_] = va_arg(arguments_, long);                                       \
        va_end(arguments_);                                                                                            \
        va_start(arguments_, level);                                                                                   \
        for (int i_ = 0; i_ < 8; i_++) (a).number[i_] = va_arg(arguments_, double);                                    \
        va_end(arguments_);                                                                                            \
    } while (0)

#define PCONTROL_MORE(a)                                                                                               \
    (a).word[0], (a).word[1], (a).word[2], (a).word[3], (a).word[4], (a).word[5], (a).word[6], (a).word[7],            \
        (a).word[8], (a).word[9], (a).word[10], (a).word[11], (a).word[12], (a).word[13], (a).word[14],                \
        (a).number[0], (a).number[1], (a).number[2], (a).number[3], (a).number[4], (a).number[5], (a).number[6],       \
        (a).number[7]

static int last_MPI_Pcontrol(struct chain_context context, int tool_id, const int level, ...)
{
    struct pcontrol_arguments a;
    (void)tool_id;
    PCONTROL_READ(a, level);
    chain_reach(context);
    int rc = ((type_MPI_Pcontrol *)chain_last(context, ID_MPI_Pcontrol))(level, PCONTROL_MORE(a));
    chain_return(context);
    return rc;
}

static NOINLINE int go_MPI_Pcontrol(struct chain_call *record, int shifted, int level,
                                    const struct pcontrol_arguments *a)
{
    const struct chain_link *link = &chain_links[ID_MPI_Pcontrol];
    if (!record) return ((type_MPI_Pcontrol *)chain_next[ID_MPI_Pcontrol][shifted])(level, PCONTROL_MORE(*a));
    if (chain_running() && (record->flags & CHAIN_FLAG_HOOK)) chain_owner->pcontrol(level, (const void *)a->word[0]);
    chain_before_next(record);
    int rc;
    if (record->flags & CHAIN_FLAG_TOOLS)
        rc = ((tool_MPI_Pcontrol *)link->function)((struct chain_context){record}, link->tool_id, level,
                                                   PCONTROL_MORE(*a));
    else
        rc = ((type_MPI_Pcontrol *)chain_next[ID_MPI_Pcontrol][shifted])(level, PCONTROL_MORE(*a));
    chain_after_next(record);
    return chain_leave(record, rc);
}

#define PCONTROL(name, shifted)                                                                                        \
    CHAIN_RECORD(int, name)(const int level, ...)                                                                      \
    {                                                                                                                  \
        struct pcontrol_arguments a;                                                                                   \
        PCONTROL_READ(a, level);                                                                                       \
        return go_MPI_Pcontrol(CHAIN_ENTER(ID_MPI_Pcontrol, shifted), shifted, level, &a);                             \
    }

PCONTROL(MPI_Pcontrol, 0)
PCONTROL(PMPI_Pcontrol, 1)
