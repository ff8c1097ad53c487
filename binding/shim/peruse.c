/* peruse.c: PERUSE 2.0 (sections 5.2.1 to 5.2.17). Part of shim.c, which includes it. peruse.h is not needed: its types are the
 * specification's, and its numbers those of Appendix A, which Open MPI also has, except those of events, which are queried. */

typedef struct {
    MPI_Comm comm;
    void *buf;
    int count;
    MPI_Datatype datatype;
    int peer, tag, operation;
} native_spec;
typedef int native_peruse_fn(void *handle, MPI_Aint unique_id, native_spec *spec, void *param);

#define PERUSE(X)                                                                                                      \
    X(Init, void)                                                                                                      \
    X(Query_supported_events, int *, char ***, int **)                                                                 \
    X(Query_event, const char *, int *)                                                                                \
    X(Query_event_name, int, char **)                                                                                  \
    X(Query_environment, int *, char ***)                                                                              \
    X(Query_queue_event_scope, int *)                                                                                  \
    X(Event_comm_register, int, MPI_Comm, native_peruse_fn *, void *, void **)                                         \
    X(Event_activate, void *)                                                                                          \
    X(Event_deactivate, void *)                                                                                        \
    X(Event_release, void **)                                                                                          \
    X(Event_get, void *, int *)                                                                                        \
    X(Event_object_get, void *, void **)                                                                               \
    X(Event_comm_callback_set, void *, native_peruse_fn *, void *)                                                     \
    X(Event_comm_callback_get, void *, native_peruse_fn **, void **)                                                   \
    X(Event_propagate, void *, int)                                                                                    \
    X(Lock, void)                                                                                                      \
    X(Unlock, void)

static struct {
    PERUSE(NEW_FIELD)
} peruse;

static int peruse_rc(int code)
{
    return code == 0 ? MPITX_SUCCESS : code > 0 && code <= 12 ? MPITX_ERR_NOT_PROVIDED + code : MPITX_ERR_OTHER + code;
}
#define PERUSE_PROVIDED(f, ...) ((f) ? peruse_rc((f)(__VA_ARGS__)) : MPITX_ERR_NOT_PROVIDED)

static int x_peruse_init(void) { return PERUSE_PROVIDED(peruse.Init); }

static int x_peruse_query_supported_events(int *num, char ***names, int **events)
{
    return PERUSE_PROVIDED(peruse.Query_supported_events, num, names, events);
}

static int x_peruse_query_event(const char *name, int *event)
{
    int code = PERUSE_PROVIDED(peruse.Query_event, name, event);
    if (code != MPITX_SUCCESS)
        *event = MPITX_PERUSE_EVENT_INVALID; /* Open MPI leaves it alone */
    return code;
}

static int x_peruse_query_event_name(int event, char **name) { return PERUSE_PROVIDED(peruse.Query_event_name, event, name); }

static int x_peruse_query_environment(int *num, char ***env)
{
    return PERUSE_PROVIDED(peruse.Query_environment, num, env);
}

static int x_peruse_query_queue_event_scope(int *scope)
{
#if defined(OPEN_MPI)
    static const int queue_scopes[] = {0, -1, -1, 1}; /* it has two of the four */
#else
    static const int queue_scopes[] = {0, 1, 2, 3};
#endif
    int got = -2, code = PERUSE_PROVIDED(peruse.Query_queue_event_scope, &got);
    *scope = NEUTRAL(got, queue_scopes);
    return code;
}

/* The handle of an event is the address of its record, which the library gets as the callback's parameter. Records are never
 * released, as Open MPI keeps a handle that was released, and may call it. */
struct peruse_record {
    void *native; /* the first, as peruse_watch.go relies on it */
    _Atomic bool freed;
    mpitx_peruse_fn *_Atomic function;
    void *_Atomic param;
};

static void *native_handle(mpitx_handle handle) { return handle ? ((struct peruse_record *)handle)->native : NULL; }

/* Translates what the library gives a callback. */
struct mpitx_peruse_spec mpitx_peruse_translate(const void *native)
{
    const native_spec *spec = native;
    return (struct mpitx_peruse_spec){.comm = (uint64_t)(uintptr_t)spec->comm,
                                      .buf = spec->buf,
                                      .count = spec->count,
                                      .datatype = spec->datatype == no_type ? 0 : neutral_type(spec->datatype),
                                      .peer = spec->peer,
                                      .tag = spec->tag,
                                      .operation = spec->operation + MPITX_PERUSE_SEND};
}

static int on_peruse(void *native, MPI_Aint unique_id, native_spec *spec, void *param)
{
    struct peruse_record *r = param;
    (void)native;
    if (r->freed)
        return MPI_SUCCESS;
    struct mpitx_peruse_spec neutral = mpitx_peruse_translate(spec);
    return r->function((mpitx_handle)r, (intptr_t)unique_id, &neutral, r->param);
}

int mpitx_peruse_bind(int event, void *comm, mpitx_peruse_fn *function, void *param, mpitx_handle *handle)
{
    *handle = 0;
    if (!peruse.Event_comm_register)
        return MPITX_ERR_NOT_PROVIDED;
    struct peruse_record *r = calloc(1, sizeof *r);
    if (!r)
        return MPITX_ERR_MEMORY;
    r->function = function;
    r->param = param;
    int code = peruse.Event_comm_register(event, *(MPI_Comm *)comm, function ? on_peruse : NULL, r, &r->native);
    if (code == 0)
        *handle = (mpitx_handle)r;
    else
        free(r);
    return peruse_rc(code);
}

static int x_peruse_event_comm_register(int event, int object, mpitx_peruse_fn *function, void *param, mpitx_handle *handle)
{
    return mpitx_peruse_bind(event, &objects[object].comm, function, param, handle);
}

static int x_peruse_event_activate(mpitx_handle h) { return PERUSE_PROVIDED(peruse.Event_activate, native_handle(h)); }
static int x_peruse_event_deactivate(mpitx_handle h) { return PERUSE_PROVIDED(peruse.Event_deactivate, native_handle(h)); }

static int x_peruse_event_release(mpitx_handle *handle)
{
    void *native = native_handle(*handle);
    int code = PERUSE_PROVIDED(peruse.Event_release, &native);
    if (code == MPITX_SUCCESS && *handle) { /* Open MPI takes a null handle */
        ((struct peruse_record *)*handle)->freed = true;
        *handle = 0;
    }
    return code;
}

static int x_peruse_event_get(mpitx_handle h, int *event) { return PERUSE_PROVIDED(peruse.Event_get, native_handle(h), event); }

static int x_peruse_event_object_get(mpitx_handle handle, int *object)
{
    void *comm = NULL; /* the communicator's handle itself */
    int code = PERUSE_PROVIDED(peruse.Event_object_get, native_handle(handle), &comm);
    *object = MPITX_UNKNOWN;
    for (int i = 1; code == MPITX_SUCCESS && i <= MPITX_OBJECT_LAST; i++)
        if ((uintptr_t)objects[i].comm == (uintptr_t)comm)
            *object = i;
    return code;
}

static int x_peruse_event_comm_callback_set(mpitx_handle handle, mpitx_peruse_fn *function, void *param)
{
    struct peruse_record *r = (struct peruse_record *)handle;
    int code = PERUSE_PROVIDED(peruse.Event_comm_callback_set, native_handle(handle), function ? on_peruse : NULL, r);
    if (code == MPITX_SUCCESS) {
        r->function = function;
        r->param = param;
    }
    return code;
}

static int x_peruse_event_comm_callback_get(mpitx_handle handle, mpitx_peruse_fn **function, void **param)
{
    native_peruse_fn *native = on_peruse; /* Open MPI takes NULL for an invalid argument */
    void *record = NULL;
    int code = PERUSE_PROVIDED(peruse.Event_comm_callback_get, native_handle(handle), &native, &record);
    bool ours = code == MPITX_SUCCESS && native == on_peruse && record == (void *)handle;
    *function = ours ? ((struct peruse_record *)handle)->function : NULL;
    *param = ours ? ((struct peruse_record *)handle)->param : NULL;
    return code;
}

static int x_peruse_event_propagate(mpitx_handle h, int mode) { return PERUSE_PROVIDED(peruse.Event_propagate, native_handle(h), mode); }
static int x_peruse_lock(void) { return PERUSE_PROVIDED(peruse.Lock); }
static int x_peruse_unlock(void) { return PERUSE_PROVIDED(peruse.Unlock); }
