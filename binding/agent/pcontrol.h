/* pcontrol.h: MPI_Pcontrol, the one variadic function. Included at the end of wrappers.c.
 *
 * What follows the level is for other tools: it is passed on as it came where the compiler can do that, else as eight words. Function tools
 * cannot have it. */

typedef int type_MPI_Pcontrol(const int level, ...);

static NOINLINE bool enter_MPI_Pcontrol(struct chain_entry *entry, const struct chain_caller *caller, int level)
{
    if (!chain_flags[ID_MPI_Pcontrol] || !chain_enter(entry, ID_MPI_Pcontrol, caller)) return false;
    if (chain_running() && (entry->flags & CHAIN_FLAG_HOOK)) agent_pcontrol(level);
    chain_entered(entry);
    return true;
}

static NOINLINE void leave_MPI_Pcontrol(struct chain_entry *entry, int rc)
{
    chain_left(entry);
    chain_leave(entry, rc);
}

#if defined(__GNUC__) && !defined(__clang__)
#define PCONTROL(name, name_shifted)                                                                                   \
    EXPORT int name(const int level, ...)                                                                              \
    {                                                                                                                  \
        void *arguments = __builtin_apply_args();                                                                      \
        struct chain_entry entry;                                                                                      \
        struct chain_caller caller = CHAIN_CALLER(name_shifted);                                                       \
        bool counts = enter_MPI_Pcontrol(&entry, &caller, level);                                                      \
        void *result = __builtin_apply((void (*)())CHAIN_NEXT(&caller, ID_MPI_Pcontrol), arguments, 64);               \
        if (counts) leave_MPI_Pcontrol(&entry, MPI_SUCCESS);                                                           \
        __builtin_return(result);                                                                                      \
    }
#else
#include <stdarg.h>
#define PCONTROL(name, name_shifted)                                                                                   \
    EXPORT int name(const int level, ...)                                                                              \
    {                                                                                                                  \
        long word[8];                                                                                                  \
        va_list arguments;                                                                                             \
        va_start(arguments, level);                                                                                    \
        for (int i = 0; i < 8; i++) word[i] = va_arg(arguments, long);                                                 \
        va_end(arguments);                                                                                             \
        struct chain_entry entry;                                                                                      \
        struct chain_caller caller = CHAIN_CALLER(name_shifted);                                                       \
        bool counts = enter_MPI_Pcontrol(&entry, &caller, level);                                                      \
        int rc = ((type_MPI_Pcontrol *)CHAIN_NEXT(&caller, ID_MPI_Pcontrol))(level, word[0], word[1], word[2], word[3], \
                                                                             word[4], word[5], word[6], word[7]);      \
        if (counts) leave_MPI_Pcontrol(&entry, rc);                                                                    \
        return rc;                                                                                                     \
    }
#endif

PCONTROL(MPI_Pcontrol, 0)
PCONTROL(PMPI_Pcontrol, 1)
