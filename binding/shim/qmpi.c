/* qmpi.c: examines tools for the MPI library's own QMPI, in a process of its own. The library has no routine that lists what tools
 * register. The process therefore loads the shim before the library and the tools, which find these routines instead of the
 * library's. The C names differ from those that mpi.h may declare. */

struct qmpi_name {
    char name[256]; /* MPICH's longest */
    const char *path;
    void (*init)(int id);
};

static struct {
    int to; /* the file descriptor for lines: a word, and its tab-separated arguments */
    const char *loading;
    struct qmpi_name names[64];
    const struct qmpi_name *tools[64]; /* to initialize; the first one has the number 1 */
    int name_count, tool_count;
} qmpi;

static void *qmpi_routine(const char *name) { return dlsym(library, name); }

static void qmpi_error(const char *why)
{
    dprintf(qmpi.to, "error\t");
    for (; *why; why++) dprintf(qmpi.to, "%c", (unsigned char)*why < ' ' ? ' ' : *why);
    dprintf(qmpi.to, "\n");
}

int qmpi_register_name(const char *name, void (*init)(int id)) __asm__("QMPI_Register_tool_name");
int qmpi_register_name(const char *name, void (*init)(int id))
{
    struct qmpi_name *new = &qmpi.names[qmpi.name_count];
    if (qmpi.name_count == sizeof qmpi.names / sizeof *qmpi.names || !name || !name[0] || strlen(name) >= sizeof new->name || !init) return MPI_ERR_ARG;
    for (const char *at = name; *at; at++)
        if ((unsigned char)*at < ' ') return MPI_ERR_ARG;
    strcpy(new->name, name);
    new->path = qmpi.loading;
    new->init = init;
    qmpi.name_count++;
    dprintf(qmpi.to, "registered\t%s\t%s\n", new->path, name);
    return MPI_SUCCESS;
}

/* The numbers of functions differ between releases. The library's own function says which one a number is. */
int qmpi_register_function(int id, int number, void (*f)(void)) __asm__("QMPI_Register_function");
int qmpi_register_function(int id, int number, void (*f)(void))
{
    int (*next)(int, int, void (**)(void), int *) = (int (*)(int, int, void (**)(void), int *))qmpi_routine("QMPI_Get_function");
    int (*add)(int, int, void (*)(void)) = (int (*)(int, int, void (*)(void)))qmpi_routine("QMPI_Register_function");
    void (*own)(void) = NULL;
    int next_id;
    Dl_info info;
    if (next && next(qmpi.tool_count, number, &own, &next_id) == 0 && own && dladdr((void *)own, &info) && info.dli_sname &&
        strncmp(info.dli_sname, "QMPI_", 5) == 0) {
        dprintf(qmpi.to, "function\t%d\t%s\n", id, info.dli_sname + 1);
        return add ? add(id, number, f) : MPI_SUCCESS;
    }
    dprintf(qmpi.to, "unknown\t%d\t%d\n", id, number); /* MPICH would write outside of its table */
    return MPI_SUCCESS;
}

static void qmpi_start(int id)
{
    if (id < 1 || id > qmpi.tool_count) return;
    dprintf(qmpi.to, "tool\t%d\t%s\t%s\n", id, qmpi.tools[id - 1]->name, qmpi.tools[id - 1]->path);
    qmpi.tools[id - 1]->init(id);
}

/* Chooses the tool with this name. If the name is empty, it chooses the library's only tool. */
static void qmpi_choose(const char *path, const char *name)
{
    const struct qmpi_name *found = NULL;
    int count = 0;
    for (int i = 0; i < qmpi.name_count; i++) {
        if (strchr(qmpi.names[i].name, ':') || strcmp(qmpi.names[i].path, path) != 0 || (name[0] && strcmp(qmpi.names[i].name, name) != 0)) continue;
        if (count++ == 0) found = &qmpi.names[i];
    }
    if (found && (count == 1 || name[0]) && qmpi.tool_count < (int)(sizeof qmpi.tools / sizeof *qmpi.tools)) qmpi.tools[qmpi.tool_count++] = found;
}

/* The library initializes the tools of its list when it is first used. */
static void qmpi_initialize(void)
{
    int (*add)(const char *, void (*)(int)) = (int (*)(const char *, void (*)(int)))qmpi_routine("QMPI_Register_tool_name");
    int (*init)(int, int *) = (int (*)(int, int *))qmpi_routine("MPI_T_init_thread");
    char list[sizeof qmpi.tools / sizeof *qmpi.tools * sizeof qmpi.names[0].name] = "", *end = list;
    int provided, rc;
    for (int i = 0; i < qmpi.tool_count; i++) end += sprintf(end, "%s%s", i > 0 ? ":" : "", qmpi.tools[i]->name);
    setenv("MPIR_CVAR_QMPI_TOOL_LIST", list, 1);
    for (int i = 0; i < qmpi.tool_count; i++) {
        int before = 0;
        while (strcmp(qmpi.tools[before]->name, qmpi.tools[i]->name) != 0) before++;
        if (before == i) add(qmpi.tools[i]->name, qmpi_start);
    }
    if (qmpi.tool_count > 0 && init && (rc = init(MPI_THREAD_SINGLE, &provided)) != MPI_SUCCESS) {
        char why[64];
        snprintf(why, sizeof why, "MPI_T_init_thread returns %d", rc);
        qmpi_error(why);
    }
}

/* tools has the path and the name ("": the only one) of each tool. */
void mpitx_shim_qmpi(int to, const char *libmpi, int count, const char *const tools[][2])
{
    qmpi.to = to;
    if (!(library = dlopen(libmpi, RTLD_NOW | RTLD_GLOBAL))) {
        qmpi_error(dlerror());
        return;
    }
    int has = x_qmpi();
    if (!has) dprintf(to, "none\n");
    for (int i = 0; i < count; i++) {
        int before = 0;
        while (strcmp(tools[before][0], tools[i][0]) != 0) before++;
        if (before < i) continue;
        qmpi.loading = tools[i][0];
        dprintf(to, "loading\t%s\n", qmpi.loading);
        if (!dlopen(qmpi.loading, (has ? RTLD_NOW : RTLD_LAZY) | RTLD_GLOBAL)) qmpi_error(dlerror()); /* a library without QMPI lacks what tools call later */
    }
    for (int i = 0; i < count; i++) qmpi_choose(tools[i][0], tools[i][1]);
    if (has) qmpi_initialize();
    dprintf(to, "done\n");
}
