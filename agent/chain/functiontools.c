/* functiontools.c: function tools, with the interface of the QMPI draft. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>

#include "base/agent.h"
#include "chain/internal.h"

struct tool {
    const char *name;
    void *storage;
    chain_any_function **functions;
};

static struct tool tools[CHAIN_MAX_TOOLS + 1]; /* numbered from 1: 0 is the library */
static int tool_count;

int chain_add_tool(const char *name)
{
    if (tool_count == CHAIN_MAX_TOOLS) return -1;
    chain_any_function **functions = calloc((size_t)chain_function_count, sizeof *functions);
    if (!functions) return -1;
    tools[++tool_count] = (struct tool){.name = name, .functions = functions};
    return tool_count;
}

static struct tool *find_tool(int tool_id)
{
    return tool_id >= 1 && tool_id <= tool_count ? &tools[tool_id] : NULL;
}

/* The next tool after another (after 0: the first) that has the function; after the last, the library. */
static struct chain_link next_tool(int tool_id, int function)
{
    for (int i = tool_id + 1; i <= tool_count; i++)
        if (tools[i].functions && tools[i].functions[function]) return (struct chain_link){tools[i].functions[function], i};
    return (struct chain_link){chain_lasts[function], 0};
}

static int register_storage(int tool_id, void *storage)
{
    struct tool *tool = find_tool(tool_id);
    if (!tool) return -1;
    tool->storage = storage;
    return 0;
}

static int register_function(int tool_id, int function, chain_any_function *f)
{
    struct tool *tool = find_tool(tool_id);
    if (!tool || function < 0 || function >= chain_function_count || !chain_lasts[function]) return -1;
    tool->functions[function] = f;
    struct chain_link first = next_tool(0, function);
    chain_links[function] = first.tool_id ? first : (struct chain_link){NULL, 0};
    return 0;
}

static int get_function(int calling_tool_id, int function, chain_any_function **f, int *next_tool_id)
{
    if (calling_tool_id < 0 || calling_tool_id > tool_count || function < 0 || function >= chain_function_count) return -1;
    struct chain_link next = next_tool(calling_tool_id, function);
    if (!next.function) return -1;
    *f = next.function;
    *next_tool_id = next.tool_id;
    return 0;
}

static int get_storage(struct chain_context context, int tool_id, void **storage)
{
    (void)context;
    struct tool *tool = find_tool(tool_id);
    if (!tool) return -1;
    *storage = tool->storage;
    return 0;
}

static int get_calling_address(struct chain_context context, void **address)
{
    if (!context.call) return -1;
    *address = (void *)context.call->address;
    return 0;
}

const struct chain_tools chain_tools = {
    CHAIN_TOOLS_VERSION, sizeof(struct chain_tools), chain_function_id, register_storage,
    register_function, get_function, get_storage, get_calling_address,
};

void chain_load_tools(void)
{
    const char *path;
    for (int i = 0; (path = agent_config("tool", i)); i++) {
        void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (!library) {
            agent_note("tool: %s", dlerror());
            continue;
        }
        int (*init)(const struct chain_tools *, int) = (int (*)(const struct chain_tools *, int))dlsym(library, "mpitx_tool_init");
        if (!init) {
            agent_note("tool: %s: skipped: it does not define mpitx_tool_init", path);
            continue;
        }
        library_add_inside((const void *)init);
        int id = chain_add_tool(path);
        if (id < 0) {
            agent_note("tool: %s: skipped: there are %d tools already", path, tool_count);
            continue;
        }
        int rc = init(&chain_tools, id);
        if (rc == 0) continue;
        agent_note("tool: %s: skipped: mpitx_tool_init returned %d", path, rc);
        for (int f = 0; f < chain_function_count; f++)
            if (tools[id].functions[f]) register_function(id, f, NULL);
    }
}
