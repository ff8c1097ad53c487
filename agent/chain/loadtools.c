/* loadtools.c: loads function tools, and initializes them in the application's first MPI call.
 *
 *     NONE, or AWAITED -> LOADING -> LOADED -> STARTING -> STARTED -> ACTIVE; DROPPED in a child of fork
 *
 * Tools are loaded in the constructor if the program is linked with MPI, so that they can register before main.
 * Otherwise it may be a shell, or load MPI later, and its first MPI call loads them. From AWAITED to STARTING all
 * functions have CHAIN_FLAG_START. Other threads wait for the thread that makes the first call, but not forever. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/agent.h"
#include "base/clock.h"
#include "chain/tools.h"

#define WAIT_NS UINT64_C(20000000000)

static AGENT_THREAD bool busy; /* this thread is loading or initializing tools */
static struct qmpi_connection *qmpi;
static struct qmpi_agent routines;
static void *libraries[CHAIN_MAX_TOOLS];

void chain_drop_tools(void) { if (atomic_load(&chain_tools) != TOOLS_NONE) atomic_store(&chain_tools, TOOLS_DROPPED); }

/* ---- loading ---- */

static int names_closed(void) { return atomic_load(&chain_tools) > TOOLS_LOADED; }

static int name_registered(enum qmpi_answer answer, const char *name)
{
    if (answer == QMPI_DONE && qmpi->owner)
        chain_tell("registered\t%s\t%s", agent_config("tool", qmpi->owner - 1), name);
    return answer == QMPI_DONE ? 0 : answer == QMPI_BAD ? library_errors.argument : library_errors.other;
}

static void fail(const char *what)
{
    const char *why = dlerror();
    if (!why) why = "unknown error";
    size_t length = strlen(what);
    if (strncmp(why, what, length) == 0 && strncmp(why + length, ": ", 2) == 0) why += length + 2;
    agent_note("tool %s: skipped: %s", what, why);
    chain_tell("error\t%s", why);
}

/* An application that links tools has loaded the library already, perhaps another copy of it. */
static bool connect_library(void)
{
    const char *path = agent_config("qmpi", 0);
    void *handle = dlopen("libmpitx-qmpi.so", RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD);
    if (!handle && path) handle = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    struct qmpi_connection *found = handle ? dlsym(handle, "mpitx_qmpi") : NULL;
    if (!found || found->version != QMPI_VERSION) {
        if (found) agent_note("tools: skipped: libmpitx-qmpi.so is of another version than the agent");
        if (!found) fail("libmpitx-qmpi.so");
        return false;
    }
    for (int i = 0; i < chain_table_count && i < (int)found->function_count; i++)
        if (chain_library_calls[i]) found->entries[i] = chain_library_calls[i];
    routines = chain_qmpi;
    routines.closed = names_closed;
    routines.registered = name_registered;
    found->agent = &routines;
    qmpi = found;
    return true;
}

/* Opens the library of a tool. If it is given again, its constructors have already registered its names. */
static void open_tool(int number, const char *path)
{
    qmpi->owner = number + 1;
    libraries[number] = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    /* The tool may need data of an MPI library that the program has loaded for itself alone. */
    if (!libraries[number] && library.loaded_later && dlopen(library.path, RTLD_LAZY | RTLD_NOLOAD | RTLD_GLOBAL))
        libraries[number] = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    qmpi->owner = 0;
    if (!libraries[number]) fail(path);
}

static void load(void)
{
    const char *path;
    busy = true;
    if (library.other_family || !connect_library()) {
        busy = false;
        atomic_store(&chain_tools, TOOLS_NONE);
        chain_set_flags();
        return;
    }
    for (int i = 0; i < CHAIN_MAX_TOOLS && (path = agent_config("tool", i)); i++) {
        if (!path[0]) continue;
        chain_tell("loading\t%s", path);
        open_tool(i, path);
    }
    if (agent_config("tool", CHAIN_MAX_TOOLS))
        agent_note("tools: there are more than %d; only the first ones are used", CHAIN_MAX_TOOLS);
    busy = false;
    atomic_store(&chain_tools, TOOLS_LOADED);
    dlerror();
}

void chain_load_tools(void)
{
    if (!agent_config("tool", 0)) return;
    atomic_store(&chain_tools, chain_resolved ? TOOLS_LOADING : TOOLS_AWAITED);
    chain_set_flags();
    if (chain_resolved) load();
}

/* ---- initialization ---- */

/* Whether a library has registered a name: while it was loaded, or before, if the application links it. */
static bool registered_by(const struct qmpi_name *name, int number)
{
    const char *path = agent_config("tool", number);
    Dl_info info;
    struct link_map *map = NULL;
    if (!path[0]) return true;
    if (name->owner) return strcmp(agent_config("tool", name->owner - 1), path) == 0;
    return dladdr1((void *)name->init, &info, (void **)&map, RTLD_DL_LINKMAP) && (void *)map == libraries[number];
}

/* The tool with a name, or the library's only one if the name is "". */
static const struct qmpi_name *find_name(int number, const char *wanted)
{
    const struct qmpi_name *found = NULL;
    const char *path = agent_config("tool", number);
    int count = 0;
    for (int i = 0; i < __atomic_load_n(&qmpi->name_count, __ATOMIC_ACQUIRE); i++) {
        const struct qmpi_name *name = &qmpi->names[i];
        if (!registered_by(name, number) || (wanted[0] && strcmp(wanted, name->name) != 0)) continue;
        if (!found) found = name;
        count++;
    }
    if (count == 0 && wanted[0])
        agent_note("tool %s: skipped: %s registers no tool of this name", wanted, path[0] ? path : "the program");
    else if (count == 0)
        agent_note("tool %s: skipped: it registers no tool", path);
    else if (count > 1 && !wanted[0])
        agent_note("tool %s: skipped: it registers %d tools; choose one by its name", path, count);
    return count == 1 || wanted[0] ? found : NULL;
}

static void start_tool(int number, const char *path)
{
    const char *name = agent_config("tool_name", number);
    if (path[0] && !libraries[number]) return; /* fail has said so */
    const struct qmpi_name *found = find_name(number, name ? name : "");
    if (found && !chain_add_tool(found->name, found->init, path))
        agent_note("tool %s: skipped: out of memory", found->name);
}

static void finish_start(void *unused)
{
    int expected = TOOLS_STARTING;
    (void)unused;
    busy = false;
    chain_link_tools();
    if (!atomic_compare_exchange_strong(&chain_tools, &expected, TOOLS_STARTED)) return;
    chain_set_flags(); /* before other threads go on */
    expected = TOOLS_STARTED;
    atomic_compare_exchange_strong(&chain_tools, &expected, TOOLS_ACTIVE);
}

static void start(void)
{
    const char *path;
    busy = true;
    __attribute__((cleanup(finish_start))) int scope = 0; /* also if a callback throws, or the thread is cancelled */
    (void)scope;
    for (int i = 0; i < CHAIN_MAX_TOOLS && (path = agent_config("tool", i)); i++) start_tool(i, path);
}

static void wait_while(int first, int last)
{
    const struct timespec pause = {0, 200000};
    for (uint64_t begin = clock_monotonic(); atomic_load(&chain_tools) >= first && atomic_load(&chain_tools) <= last &&
         clock_monotonic() - begin < WAIT_NS;)
        syscall(SYS_nanosleep, &pause, NULL);
}

bool chain_start_tools(int function, const void *address)
{
    if (library_calls(address) || busy || library_is_inside(address)) {
        if (!library_calls(address)) chain_tell("mpi\t%s", chain_functions[function].name);
        return false;
    }
    int expected = TOOLS_AWAITED;
    if (atomic_compare_exchange_strong(&chain_tools, &expected, TOOLS_LOADING)) load();
    wait_while(TOOLS_LOADING, TOOLS_LOADING);
    expected = TOOLS_LOADED;
    if (atomic_compare_exchange_strong(&chain_tools, &expected, TOOLS_STARTING)) {
        start();
        return true;
    }
    wait_while(TOOLS_STARTING, TOOLS_STARTED);
    expected = TOOLS_STARTING;
    if (atomic_compare_exchange_strong(&chain_tools, &expected, TOOLS_DROPPED)) {
        agent_note("tools: switched off: their initialization takes longer than %d s", (int)(WAIT_NS / 1000000000));
        chain_set_flags();
    }
    return true;
}

/* ---- checking ---- */

void chain_check_tools(int descriptor)
{
    const char *path = agent_config("library", 0);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    chain_tell_to = descriptor;
    if (!library_is_linked() && path && !dlopen(path, RTLD_NOW | RTLD_GLOBAL)) {
        fail(path);
        _exit(0);
    }
    chain_resolve();
    chain_load_tools();
    if (atomic_load(&chain_tools) == TOOLS_LOADED) {
        atomic_store(&chain_tools, TOOLS_STARTING);
        start();
    }
    chain_tell("done");
    _exit(0);
}
