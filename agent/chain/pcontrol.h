/* pcontrol.h: MPI_Pcontrol, the one variadic function. Included at the end of wrappers.c.
 *
 * What follows the level is for other tools: it is passed on as it came where the compiler can do that and no function tool is
 * there, else as eight integers or pointers and eight floating-point numbers. */

#include <stdarg.h>

typedef int type_MPI_Pcontrol(const int level, ...);
typedef int tool_MPI_Pcontrol(struct chain_context, int, const int level, ...);

/* In calling conventions with registers of two kinds each kind is in order by itself, and nobody can tell that there is more. */
struct pcontrol_arguments {
    long word[8];
    double number[8];
};

#define PCONTROL_READ(a, level)                                                                                        \
    do {                                                                                                               \
        va_list arguments_;                                                                                            \
        va_start(arguments_, level);                                                                                   \
        for (int i_ = 0; i_ < 8; i_++) (a).word[i_] = va_arg(arguments_, long);                                        \
        va_end(arguments_);                                                                                            \
        va_start(arguments_, level);                                                                                   \
        for (int i_ = 0; i_ < 8; i_++) (a).number[i_] = va_arg(arguments_, double);                                    \
        va_end(arguments_);                                                                                            \
    } while (0)

#define PCONTROL_MORE(a)                                                                                               \
    (a).word[0], (a).word[1], (a).word[2], (a).word[3], (a).word[4], (a).word[5], (a).word[6], (a).word[7],             \
        (a).number[0], (a).number[1], (a).number[2], (a).number[3], (a).number[4], (a).number[5], (a).number[6], (a).number[7]

static int last_MPI_Pcontrol(struct chain_context context, int tool_id, const int level, ...)
{
    struct pcontrol_arguments a;
    (void)tool_id;
    PCONTROL_READ(a, level);
    return ((type_MPI_Pcontrol *)chain_last(context, ID_MPI_Pcontrol))(level, PCONTROL_MORE(a));
}

static NOINLINE int tools_MPI_Pcontrol(struct chain_entry *entry, int level, const struct pcontrol_arguments *a)
{
    return ((tool_MPI_Pcontrol *)entry->tool)((struct chain_context){&entry->call}, entry->tool_id, level, PCONTROL_MORE(*a));
}

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
        if (counts && (entry.flags & CHAIN_FLAG_TOOLS)) {                                                              \
            struct pcontrol_arguments a;                                                                               \
            PCONTROL_READ(a, level);                                                                                   \
            int rc = tools_MPI_Pcontrol(&entry, level, &a);                                                            \
            leave_MPI_Pcontrol(&entry, rc);                                                                            \
            return rc;                                                                                                 \
        }                                                                                                              \
        void *result = __builtin_apply((void (*)())CHAIN_NEXT(&caller, ID_MPI_Pcontrol), arguments, 64);               \
        if (counts) leave_MPI_Pcontrol(&entry, MPI_SUCCESS);                                                           \
        __builtin_return(result);                                                                                      \
    }
#else
#define PCONTROL(name, name_shifted)                                                                                   \
    EXPORT int name(const int level, ...)                                                                              \
    {                                                                                                                  \
        struct pcontrol_arguments a;                                                                                   \
        PCONTROL_READ(a, level);                                                                                       \
        struct chain_entry entry;                                                                                      \
        struct chain_caller caller = CHAIN_CALLER(name_shifted);                                                       \
        bool counts = enter_MPI_Pcontrol(&entry, &caller, level);                                                      \
        int rc = counts && (entry.flags & CHAIN_FLAG_TOOLS)                                                            \
                     ? tools_MPI_Pcontrol(&entry, level, &a)                                                           \
                     : ((type_MPI_Pcontrol *)CHAIN_NEXT(&caller, ID_MPI_Pcontrol))(level, PCONTROL_MORE(a));           \
        if (counts) leave_MPI_Pcontrol(&entry, rc);                                                                    \
        return rc;                                                                                                     \
    }
#endif

PCONTROL(MPI_Pcontrol, 0)
PCONTROL(PMPI_Pcontrol, 1)
