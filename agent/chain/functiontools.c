/* functiontools.c: function tools, and the routines of the QMPI draft that they call (agent/include/qmpi.h). */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/agent.h"
#include "base/memory.h"
#include "chain/tools.h"

struct tool {
    const char *name;
    void *storage;
    chain_any_function **functions; /* that it has registered */
    struct chain_link *nexts;       /* the next function after each */
};

static struct tool tools[CHAIN_MAX_TOOLS + 1]; /* numbered from 1: 0 is the library */
static int tool_count, initializing; /* numbers of tools; 0: none */
static bool linked; /* nexts are valid */

int chain_tell_to = -1;

void chain_tell(const char *format, ...)
{
    char line[4200];
    va_list arguments;
    if (chain_tell_to < 0) return;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line - 1, format, arguments);
    va_end(arguments);
    if (length < 0) return;
    if (length > (int)sizeof line - 2) length = sizeof line - 2;
    for (int i = 0; i < length; i++)
        if (line[i] == '\n') line[i] = ' ';
    line[length++] = '\n';
    if (write(chain_tell_to, line, (size_t)length) < 0) chain_tell_to = -1;
}

static bool is_function(int function)
{
    return function >= 0 && function < chain_table_count && chain_library_calls[function];
}

static struct tool *find_tool(int tool_id) { return tool_id >= 1 && tool_id <= tool_count ? &tools[tool_id] : NULL; }

static int register_storage(int tool_id, void *storage)
{
    struct tool *tool = find_tool(tool_id);
    if (!tool) return library_errors.argument;
    tool->storage = storage;
    return 0;
}

static int register_function(int tool_id, int function, chain_any_function *f)
{
    struct tool *tool = find_tool(tool_id);
    if (!tool || !f) return library_errors.argument;
    if (tool_id != initializing) return library_errors.other;
    if (!is_function(function)) {
        agent_note("tool %s: it registered function number %d, which does not exist", tool->name, function);
        chain_tell("unknown\t%d\t%d", tool_id, function);
        return library_errors.argument;
    }
    if (tool->functions[function])
        agent_note("tool %s: it registered %s more than once; the last registration counts", tool->name,
                   chain_functions[function].name);
    chain_tell("%s\t%d\t%s", tool->functions[function] ? "twice" : "function", tool_id, chain_functions[function].name);
    tool->functions[function] = f;
    library_add_tool((const void *)f);
    return 0;
}

static int get_function(int tool_id, int function, chain_any_function **f, int *next_tool_id)
{
    struct tool *tool = find_tool(tool_id);
    if (!tool || !is_function(function) || !f || !next_tool_id) return library_errors.argument;
    if (!linked) return library_errors.other; /* tools after this one have not registered their functions */
    struct chain_link next = tool->nexts[function];
    *f = next.function;
    *next_tool_id = next.tool_id;
    return 0;
}

static int get_storage(struct chain_context context, int tool_id, void **storage)
{
    (void)context;
    struct tool *tool = find_tool(tool_id);
    if (!tool || !storage) return library_errors.argument;
    *storage = tool->storage;
    return 0;
}

static int get_calling_address(struct chain_context context, void **address)
{
    if (!context.call || !address) return library_errors.argument;
    *address = (void *)context.call->address;
    return 0;
}

const struct qmpi_agent chain_qmpi = {
    .register_storage = register_storage,
    .register_function = register_function,
    .get_function = get_function,
    .get_storage = get_storage,
    .get_calling_address = get_calling_address,
};

bool chain_add_tool(const char *name, void (*init)(int), const char *path)
{
    size_t count = (size_t)chain_table_count;
    struct tool new = {.name = name, .functions = memory_new(count, sizeof *new.functions),
                       .nexts = memory_new(count, sizeof *new.nexts)};
    if (tool_count == CHAIN_MAX_TOOLS || !new.functions || !new.nexts) {
        free(new.functions);
        free(new.nexts);
        return false;
    }
    tools[++tool_count] = new;
    library_add_tool((const void *)init);
    chain_tell("tool\t%d\t%s\t%s", tool_count, name, path);
    initializing = tool_count;
    init(tool_count);
    initializing = 0;
    return true;
}

void chain_link_tools(void)
{
    initializing = 0;
    for (int f = 0; f < chain_table_count; f++) {
        struct chain_link next = {chain_library_calls[f], 0};
        for (int i = tool_count; i > 0; i--) {
            tools[i].nexts[f] = next;
            if (tools[i].functions[f]) next = (struct chain_link){tools[i].functions[f], i};
        }
        chain_links[f] = next.tool_id ? next : (struct chain_link){NULL, 0};
    }
    linked = true;
}
