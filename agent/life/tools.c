/* tools.c: the table of tools. They start in this order and end in reverse. counts writes the notes of the tools after
 * it to a file, so it is near the top. */
#include "life/life.h"

extern const struct agent_tool algorithms_tool, seen_tool, sample_tool, counts_tool, null_tool, objects_tool, event_tool, paths_tool,
    processor_tool, profile_tool, sync_tool, trace_tool, trigger_tool, where_tool, window_tool;
#ifdef AGENT_TEST_TOOL
extern const struct agent_tool AGENT_TEST_TOOL;
#endif

const struct agent_tool *const agent_tools[] = {
    NULL,
    &seen_tool,
    &sync_tool, /* before those that record */
    &window_tool, /* before those that record, which ask it */
    &counts_tool,
    &objects_tool,
    &event_tool,
    &null_tool,
    &algorithms_tool, /* before those that record what it knows */
    &paths_tool,
    &processor_tool, /* before those that switch it on */
    &profile_tool,
    &trace_tool,
    &trigger_tool,
    &where_tool,
    &sample_tool, /* after those that record without it */
#ifdef AGENT_TEST_TOOL
    &AGENT_TEST_TOOL,
#endif
    NULL,
};
