//go:build cgo && linux

/* layers.c: what UCX and libfabric themselves say of their settings. They are used as the MPI library has loaded them, without their
 * headers: by routines and layouts that all releases share. It writes a line for each fact, with tabs between its fields. */
#define _GNU_SOURCE
#include "layers.h"
#include <dlfcn.h>
#include <glob.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

/* line writes fields up to NULL; what would end a field or the line becomes a blank. */
static void line(FILE *to, const char *const *field)
{
    for (int k = 0; field[k]; k++) {
        if (k)
            putc('\t', to);
        for (const char *c = field[k]; *c; c++)
            putc(*c == '\t' || *c == '\n' || *c == '\r' ? ' ' : *c, to);
    }
    putc('\n', to);
}
#define LINE(to, ...) line(to, (const char *const[]){__VA_ARGS__, NULL})

static void *loaded(const char *soname) { return dlopen(soname, RTLD_LAZY | RTLD_NOLOAD); }

/* write_file writes the file that a routine is in. */
static void write_file(FILE *to, const void *routine)
{
    Dl_info file;
    if (routine && dladdr(routine, &file) && file.dli_fname)
        LINE(to, "file", file.dli_fname);
}

/* ---- UCX: ucs_config_parser_print_all_opts prints all tables, with the values of the environment. It leaves a table out if a value
 * in it is wrong. Before 1.13 it has one argument less, after 1.16 one more, which may be NULL. */

enum { CONFIG = 1, DOC = 4, HIDDEN = 8 };
typedef void ucx_print(FILE *, const char *prefix, int flags, void *tables, const char *filter);

static struct {
    ucx_print *print;
    void *tables;
} ucx;

/* Settings are tried under another prefix, so that those of the environment and of UCX's files do not matter. */
#define TRIED "MPITX__"

static char *ucx_text(int flags)
{
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    if (!to)
        return NULL;
    ucx.print(to, TRIED, flags, ucx.tables, NULL);
    fclose(to);
    return text;
}

static int count_names(const char *text)
{
    int n = 0;
    for (; text && (text = strstr(text, TRIED)); text += sizeof TRIED - 1)
        n++;
    return n;
}

/* names writes "name UCX_NAME DEFAULT SYNTAX" for each setting. */
static void ucx_names(FILE *to, char *text)
{
    const char *syntax = "";
    char *rest = NULL;
    for (char *l = strtok_r(text, "\n", &rest); l; l = strtok_r(NULL, "\n", &rest)) {
        char *at, *equals;
        if (!strncmp(l, "# ", 2) && (at = strstr(l, "yntax:"))) {
            syntax = at + 6 + strspn(at + 6, " ");
            continue;
        }
        if (strncmp(l, TRIED, sizeof TRIED - 1))
            continue;
        l += sizeof TRIED - 1;
        if (!(equals = strchr(l, '=')))
            continue;
        *equals = 0;
        fputs("name\tUCX_", to);
        LINE(to, l, equals + 1, syntax);
        syntax = "";
    }
}

/* ucx_changes reports what UCX makes of a value: 0 nothing, because it has no such setting; 1 another value; 2 it does not take it. */
static int ucx_changes(const char *name, const char *value, const char *all)
{
    char *text;
    int wrong;
    setenv(name, value, 1);
    text = ucx_text(CONFIG | DOC | HIDDEN);
    unsetenv(name);
    if (!text)
        return 1;
    wrong = count_names(text) < count_names(all);
    return wrong ? 2 : !!strcmp(text, all);
}

/* ucx_given writes of each setting of the environment "name UCX_NAME" if UCX has it, though it may not list it: tables have names with
 * the prefix of each table that they are in. It writes "wrong UCX_NAME" if UCX does not take the value. setenv changes environ, so that the
 * list is taken first. */
static void ucx_given(FILE *to, const char *all)
{
    char *given[256];
    int n = 0;
    for (char **e = environ; *e && n < 256; e++)
        if (!strncmp(*e, "UCX_", 4) && strchr(*e, '='))
            given[n++] = *e;
    for (int k = 0; k < n; k++) {
        const char *equals = strchr(given[k], '=');
        char name[256];
        if (snprintf(name, sizeof name, TRIED "%.*s", (int)(equals - given[k] - 4), given[k] + 4) >= (int)sizeof name)
            continue;
        int has = ucx_changes(name, "mpitx", all), wrong = ucx_changes(name, equals + 1, all) == 2;
        snprintf(name, sizeof name, "%.*s", (int)(equals - given[k]), given[k]);
        if (has)
            LINE(to, "given", name);
        if (!wrong)
            continue;
        LINE(to, "wrong", name);
        unsetenv(name); /* UCX would not start */
    }
}

/* ucx_modules loads UCX's modules, whose tables count, too. UCX itself may load only those for devices that it finds. */
static void ucx_modules(const void *routine)
{
    char pattern[4096];
    Dl_info file;
    glob_t found;
    if (!dladdr(routine, &file) || !file.dli_fname || !strrchr(file.dli_fname, '/'))
        return;
    int folder = (int)(strrchr(file.dli_fname, '/') - file.dli_fname);
    snprintf(pattern, sizeof pattern, "%.*s/ucx/lib*.so.0", folder, file.dli_fname);
    if (glob(pattern, 0, NULL, &found))
        return;
    for (size_t k = 0; k < found.gl_pathc; k++)
        dlopen(found.gl_pathv[k], RTLD_LAZY);
    globfree(&found);
}

static void ucx_settings(FILE *to)
{
    void *ucs = loaded("libucs.so.0"), *ucp = loaded("libucp.so.0");
    unsigned major = 0, minor = 0, release = 0;
    if (!ucs || !ucp)
        return;
    void (*version)(unsigned *, unsigned *, unsigned *) = (void (*)(unsigned *, unsigned *, unsigned *))dlsym(ucp, "ucp_get_version");
    ucx.print = (ucx_print *)dlsym(ucs, "ucs_config_parser_print_all_opts");
    ucx.tables = dlsym(ucs, "ucs_config_global_list");
    if (!version || !ucx.print || !ucx.tables)
        return;
    version(&major, &minor, &release);
    if (major != 1 || minor < 10)
        return;
    char text[64];
    snprintf(text, sizeof text, "%u.%u.%u", major, minor, release);
    LINE(to, "library", "UCX", text);
    const void *const places[] = {(void *)version, (void *)ucx.print, dlsym(RTLD_DEFAULT, "uct_query_components"), dlsym(RTLD_DEFAULT, "ucm_set_event_handler")};
    for (unsigned k = 0; k < sizeof places / sizeof *places; k++)
        write_file(to, places[k]);
    /* uct loads its modules when its components are asked for. */
    int (*components)(void ***, unsigned *) = (int (*)(void ***, unsigned *))dlsym(RTLD_DEFAULT, "uct_query_components");
    void *uct = loaded("libuct.so.0"), **list;
    unsigned n;
    if (uct && !components)
        components = (int (*)(void ***, unsigned *))dlsym(uct, "uct_query_components");
    if (components)
        components(&list, &n);
    ucx_modules((void *)ucx.print);
    char *all = ucx_text(CONFIG | DOC | HIDDEN), *copy = all ? strdup(all) : NULL;
    if (!copy || !count_names(all))
        return;
    ucx_names(to, copy);
    ucx_given(to, all);
    LINE(to, "whole", "UCX");
    fflush(to);
}

/* ucx_start makes UCX look for the transports and devices that the settings name. It warns of those that it does not find. */
static void ucx_start(FILE *to)
{
    void *ucp = loaded("libucp.so.0");
    if (!ucp)
        return;
    int (*read)(const char *, const char *, void **) = (int (*)(const char *, const char *, void **))dlsym(ucp, "ucp_config_read");
    int (*init)(unsigned, unsigned, const void *, const void *, void **) = (int (*)(unsigned, unsigned, const void *, const void *, void **))dlsym(ucp, "ucp_init_version");
    uint64_t params[128] = {1, 1}; /* the field "features" is set, to UCP_FEATURE_TAG */
    void *config, *context;
    if (!read || !init || read(NULL, NULL, &config))
        return;
    LINE(to, "starting", "UCX");
    fflush(to);
    init(1, 3, params, config, &context);
    LINE(to, "started", "UCX");
    fflush(to);
}

/* ---- libfabric */

struct fabric_param {
    const char *name;
    int type;
    const char *help, *value;
};
struct fabric_names { /* fi_fabric_attr */
    void *fabric;
    char *name, *provider;
};
struct fabric_info { /* fi_info, as far as it is used */
    struct fabric_info *next;
    uint64_t caps, mode;
    uint32_t format;
    size_t source_length, destination_length;
    void *pointers[7];
    struct fabric_names *names;
};
#define PROVIDERS_ONLY (1ULL << 54)

static void fabric_settings(FILE *to)
{
    void *lib = loaded("libfabric.so.1");
    struct fabric_param *all;
    struct fabric_info *info;
    int n;
    if (!lib)
        return;
    uint32_t (*version)(void) = (uint32_t(*)(void))dlsym(lib, "fi_version");
    int (*params)(struct fabric_param **, int *) = (int (*)(struct fabric_param **, int *))dlsym(lib, "fi_getparams");
    int (*getinfo)(uint32_t, const char *, const char *, uint64_t, const void *, struct fabric_info **) =
        (int (*)(uint32_t, const char *, const char *, uint64_t, const void *, struct fabric_info **))dlsym(lib, "fi_getinfo");
    if (!version || !params || !getinfo || params(&all, &n))
        return;
    char text[64];
    snprintf(text, sizeof text, "%u.%u", version() >> 16, version() & 0xffff);
    LINE(to, "library", "libfabric", text);
    write_file(to, (void *)version);
    for (int k = 0; k < n; k++) {
        const char *const types[] = {"string", "int", "bool", "size_t"};
        LINE(to, "name", all[k].name, "", all[k].type >= 0 && all[k].type < 4 ? types[all[k].type] : "string");
    }
    LINE(to, "whole", "libfabric");
    fflush(to);
    if (getinfo(1 << 16 | 5, NULL, NULL, PROVIDERS_ONLY, NULL, &info))
        return;
    for (; info; info = info->next)
        if (info->names && info->names->provider)
            LINE(to, "provider", info->names->provider);
    fflush(to);
}

void layers_settings(void)
{
    int out = dup(1);
    FILE *to = out < 0 ? NULL : fdopen(out, "w");
    if (!to)
        return;
    dup2(2, 1); /* UCX logs to standard output */
    ucx_settings(to);
    fabric_settings(to);
    ucx_start(to);
    LINE(to, "done");
    fflush(NULL); /* also UCX's log */
}
