#include "run/process.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/agent.h"

struct mpitx_run *agent_run;
struct mpitx_run_options agent_run_options;
bool agent_run_off, agent_run_busy;

void agent_report_code(int severity, int code, const char *text)
{
    if (mpitx_run_note(agent_run, severity, code, text) != 0) agent_note("%s", text);
}

void agent_report(int severity, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    agent_report_code(severity, MPITX_RUN_NOTE_TEXT, text);
}

void agent_report_notes(void)
{
    static int reported;
    for (int n = agent_note_count(); reported < n; reported++) {
        const char *text = agent_note_text(reported);
        if (text) mpitx_run_note(agent_run, MPITX_RUN_WARNING, MPITX_RUN_NOTE_TEXT, text);
    }
}
