/* note.c: the agent's notes. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/agent.h"

enum { NOTES = 64, NOTE_LENGTH = 256 };
static char notes[NOTES][NOTE_LENGTH];
static int note_count;

void agent_note(const char *format, ...)
{
    int index = __atomic_fetch_add(&note_count, 1, __ATOMIC_RELAXED), saved = errno;
    if (index < NOTES) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(notes[index], NOTE_LENGTH, format, arguments);
        va_end(arguments);
    }
    errno = saved;
}

int agent_note_count(void) { return __atomic_load_n(&note_count, __ATOMIC_RELAXED); }

const char *agent_note_text(int index)
{
    return index >= 0 && index < NOTES && index < agent_note_count() ? notes[index] : NULL;
}
