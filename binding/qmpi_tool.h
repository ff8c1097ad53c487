/* The tools of the rules about QMPI: outer, inner and unlisted. They note what the library does with them in tool_notes. mpitx check
 * has this text in its binary, too, for the programs that it writes. */
#include <dlfcn.h>
#include <string.h>

struct tool_context {
    void *hidden;
};
typedef void tool_any(void);
typedef int tool_function(struct tool_context, int, int *);

/* The library's routines, and the numbers of the functions that all tools intercept, and only outer. Below 0: a tool finds them. */
static struct {
    int (*register_storage)(int, void *), (*register_function)(int, int, tool_any *), (*get_next)(int, int, tool_any **, int *);
    int (*get_storage)(struct tool_context, int, void *), (*get_address)(struct tool_context, void *);
    tool_any *library_all, *library_outer;
    int all, outer;
} tool;

static struct {
    char inits[16], all[16], outer[16]; /* the first letters of the tools that were initialized, and that calls reached */
    int refused;                        /* registrations that failed */
    int numbers, storage, arguments, next, changed, address; /* the times that these were wrong */
} tool_notes;

static struct tool_instance {
    char name;
    int id;
} tool_instances[8];
static int tool_count;
static int tool_wrong_function, tool_wrong_tool; /* added in one registration */

static void tool_append(char text[16], char c)
{
    size_t n = strlen(text);
    if (n < 15) text[n] = c;
}

static void tool_start(void *register_storage, void *register_function, void *get_next, void *get_storage, void *get_address,
                       void *library_all, void *library_outer, int all, int outer)
{
    *(void **)&tool.register_storage = register_storage, *(void **)&tool.register_function = register_function;
    *(void **)&tool.get_next = get_next, *(void **)&tool.get_storage = get_storage, *(void **)&tool.get_address = get_address;
    *(void **)&tool.library_all = library_all, *(void **)&tool.library_outer = library_outer;
    tool.all = all, tool.outer = outer;
}

/* Looks the next function up, twice. The next tool is the one at this place of the list, or the library. */
static tool_function *tool_next(int id, int number, int place, tool_any *library, int *next_id)
{
    tool_any *next = NULL, *again = NULL;
    int again_id = -1, expected = place < tool_count ? tool_instances[place].id : 0;
    *next_id = -1;
    int rc = tool.get_next(id, number, &next, next_id);
    tool.get_next(id, number, &again, &again_id);
    tool_notes.next += rc != 0 || *next_id != expected || (expected == 0 && next != library);
    tool_notes.changed += again != next || again_id != *next_id;
    return (tool_function *)next;
}

/* The place of an instance in the list, by its storage. */
static int tool_place(struct tool_context context, int id)
{
    struct tool_instance *me = NULL;
    int rc = tool.get_storage(context, id, &me);
    if (rc == 0 && me >= tool_instances && me < tool_instances + 8 && me->id == id) return (int)(me - tool_instances);
    tool_notes.storage++;
    for (int i = 0; i < tool_count; i++)
        if (tool_instances[i].id == id) return i;
    return 0;
}

/* Each tool passes an integer of its own to the next one, and adds 1 to the result. */
static int tool_wrap_all(struct tool_context context, int id, int *level)
{
    int place = tool_place(context, id), next_id, mine = 1000 + place;
    tool_append(tool_notes.all, tool_instances[place].name);
    tool_notes.arguments += place > 0 && *level != 1000 + place - 1;
    tool_function *next = tool_next(id, tool.all, place + 1, tool.library_all, &next_id);
    int rc = next ? next(context, next_id, &mine) : 0;
    *level = mine;
    return rc + 1;
}

static int tool_wrap_outer(struct tool_context context, int id, int *flag)
{
    int place = tool_place(context, id), next_id;
    tool_append(tool_notes.outer, tool_instances[place].name);
    tool_function *next = tool_next(id, tool.outer, place + 2, tool.library_outer, &next_id);
    return next ? next(context, next_id, flag) : 0;
}

/* Where the call came from can be asked in a wrapper only. */
static int tool_wrap_address(struct tool_context context, int id, int *level)
{
    void *address = NULL;
    Dl_info from = {0}, here = {0};
    int next_id;
    tool_any *next = NULL;
    int rc = tool.get_address(context, &address);
    dladdr((void *)tool_start, &here);
    tool_notes.address += rc != 0 || !dladdr(address, &from) || from.dli_fbase != here.dli_fbase;
    tool.get_next(id, tool.all, &next, &next_id);
    return ((tool_function *)next)(context, next_id, level);
}

static void tool_find_numbers(int id)
{
    for (int n = 0; n < 4096 && (tool.all < 0 || tool.outer < 0); n++) {
        tool_any *f = NULL;
        int next_id;
        if (tool.get_next(id, n, &f, &next_id) != 0 || !f) continue;
        if (f == tool.library_all) tool.all = n;
        if (f == tool.library_outer) tool.outer = n;
    }
}

static tool_any *tool_wrapper = (tool_any *)tool_wrap_all;

static void tool_init(char name, int id)
{
    struct tool_instance *me = &tool_instances[tool_count & 7];
    tool_append(tool_notes.inits, name);
    tool_notes.numbers += id == 0;
    for (int i = 0; i < tool_count && i < 8; i++) tool_notes.numbers += tool_instances[i].id == id;
    *me = (struct tool_instance){name, id};
    tool_count++;
    if (tool.all < 0 || tool.outer < 0) tool_find_numbers(id);
    tool_notes.refused += tool.register_storage(id, me) != 0;
    if (tool.all >= 0)
        tool_notes.refused += tool.register_function(id + tool_wrong_tool, tool.all + tool_wrong_function, tool_wrapper) != 0;
    if (tool.outer >= 0 && name == 'o') tool_notes.refused += tool.register_function(id, tool.outer, (tool_any *)tool_wrap_outer) != 0;
}

static void tool_init_outer(int id) { tool_init('o', id); }
static void tool_init_inner(int id) { tool_init('i', id); }
static void tool_init_unlisted(int id) { tool_init('u', id); }
