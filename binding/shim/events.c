/* events.c: MPI-4's event types, sources and info objects (section 15.3.8). Part of shim.c, which includes it. */

static const int safeties[] = CB_SAFETIES;
static const int orders[] = SOURCE_ORDERS;

/* ---- info objects; 0 is MPI_INFO_NULL ---- */

static MPI_Info info_in(mpitx_handle info) { return info ? (MPI_Info)info : no_info; }

static mpitx_handle info_out(MPI_Info info) { return info == no_info ? 0 : (mpitx_handle)info; }

static int x_info_create(mpitx_handle *info)
{
    MPI_Info i = no_info;
    int code = mpi.Info_create ? mpi.Info_create(&i) : MPI_SUCCESS;
    *info = info_out(i);
    return mpi.Info_create ? rc(code) : MPITX_ERR_NOT_PROVIDED;
}

static int x_info_set(mpitx_handle info, const char *key, const char *value) { return PROVIDED(mpi.Info_set, info_in(info), (char *)key, (char *)value); }
static int x_info_get_nkeys(mpitx_handle info, int *num) { return PROVIDED(mpi.Info_get_nkeys, info_in(info), num); }
static int x_info_get_nthkey(mpitx_handle info, int n, char *key) { return PROVIDED(mpi.Info_get_nthkey, info_in(info), n, key); }

static int x_info_get(mpitx_handle info, const char *key, char *value, int *flag)
{
    return PROVIDED(mpi.Info_get, info_in(info), (char *)key, MPITX_INFO_VALUE - 1, value, flag);
}

static int x_info_free(mpitx_handle *info)
{
    MPI_Info i = info_in(*info);
    *info = 0;
    return PROVIDED(mpi.Info_free, &i);
}

/* ---- sources ---- */

static int x_source_get_num(int *num) { return PROVIDED(mpi.T_source_get_num, num); }

static int x_source_get_info(int index, char *name, int *name_len, char *desc, int *desc_len, struct mpitx_source_info *out)
{
    int order = -1;
    MPI_Count ticks = 0, most = 0;
    MPI_Info info = no_info;
    if (!mpi.T_source_get_info)
        return MPITX_ERR_NOT_PROVIDED;
    int code = mpi.T_source_get_info(index, name, name_len, desc, desc_len, &order, &ticks, &most, &info);
    if (code == MPI_SUCCESS && out)
        *out = (struct mpitx_source_info){.ordering = NEUTRAL(order, orders),
                                          .ticks_per_second = (int64_t)ticks,
                                          .max_ticks = (int64_t)most,
                                          .info = info_out(info)};
    return rc(code);
}

static int x_source_get_timestamp(int index, int64_t *timestamp)
{
    MPI_Count now = 0;
    if (!mpi.T_source_get_timestamp)
        return MPITX_ERR_NOT_PROVIDED;
    int code = mpi.T_source_get_timestamp(index, &now);
    *timestamp = (int64_t)now;
    return rc(code);
}

/* ---- event types ---- */

static int x_event_get_num(int *num) { return PROVIDED(mpi.T_event_get_num, num); }

static int x_event_get_info(int index, char *name, int *name_len, char *desc, int *desc_len, int datatypes[], int64_t displacements[],
                            struct mpitx_event_info *out)
{
    int verbosity = -1, bind = -1, room = out && datatypes && displacements ? out->num_elements : 0, num = room;
    MPI_T_enum enumtype = MPI_T_ENUM_NULL;
    MPI_Info info = no_info;
    if (!mpi.T_event_get_info)
        return MPITX_ERR_NOT_PROVIDED;
    MPI_Datatype *native = calloc((size_t)room + 1, sizeof *native);
    MPI_Aint *at = calloc((size_t)room + 1, sizeof *at);
    int code = MPI_SUCCESS;
    if (native && at)
        code = mpi.T_event_get_info(index, name, name_len, &verbosity, native, at, &num, &enumtype, &info, desc, desc_len, &bind);
    for (int i = 0; native && at && i < room && i < num; i++) {
        datatypes[i] = neutral_type(native[i]);
        displacements[i] = (int64_t)at[i];
    }
    bool memory = native && at;
    free(native);
    free(at);
    if (!memory)
        return MPITX_ERR_MEMORY;
#ifdef MPICH_LAYOUT
    enumtype = MPI_T_ENUM_NULL; /* MPICH has none, and up to 5.0 returns memory that it never set */
#endif
    if (code == MPI_SUCCESS && out)
        *out = (struct mpitx_event_info){.verbosity = NEUTRAL(verbosity, verbosities),
                                         .bind = NEUTRAL(bind, binds),
                                         .num_elements = num,
                                         .enumtype = (uintptr_t)enumtype,
                                         .info = info_out(info)};
    return rc(code);
}

static int x_event_get_index(const char *name, int *index) { return PROVIDED(mpi.T_event_get_index, name, index); }

/* ---- registrations ---- */

/* The handle of a registration is the address of its record, and the library gets a callback's record as user data. Records are never
 * released, as a faulty library may call a callback after the registration has been freed. */
struct callback {
    struct registration *owner;
    mpitx_event_fn *function;
    void *user_data;
};

struct registration {
    void *native;
    _Atomic bool freed;
    mpitx_event_dropped_fn *_Atomic dropped;
    void *_Atomic dropped_data;
    mpitx_event_free_fn *free_function;
    void *free_data;
    struct registration *next;
};

static struct registration *_Atomic registrations; /* all of them, latest first */

static int neutral_safety(int safety) { return NEUTRAL(safety, safeties); }

static int native_safety(int safety)
{
    return safety >= MPITX_CB_REQUIRE_NONE && safety <= MPITX_CB_REQUIRE_ASYNC_SIGNAL_SAFE ? safeties[safety - 1] : -1;
}

static void on_event(void *instance, void *native, int safety, void *user_data)
{
    struct callback *c = user_data;
    (void)native;
    c->function(c->owner->freed ? 0 : (mpitx_handle)instance, (mpitx_handle)c->owner, neutral_safety(safety), c->user_data);
}

/* What the library passes as user data is not the handler's: MPI's routine has none. */
static void on_dropped(MPI_Count count, void *native, int source, int safety, void *user_data)
{
    (void)user_data;
    for (struct registration *r = registrations; r; r = r->next)
        if (r->native == native && !r->freed) {
            mpitx_event_dropped_fn *handler = r->dropped;
            if (handler)
                handler((int64_t)count, (mpitx_handle)r, source, neutral_safety(safety), r->dropped_data);
            return;
        }
}

static void on_free(void *native, int safety, void *user_data)
{
    struct registration *r = user_data;
    (void)native;
    if (r->freed)
        return;
    r->freed = true;
    if (r->free_function)
        r->free_function((mpitx_handle)r, neutral_safety(safety), r->free_data);
}

/* As Open MPI's ABI library does for performance variables, it may read past a copy of the object's handle. */
__attribute__((noinline)) static int register_below_zeros(int index, void *object, MPI_Info info, void **native)
{
    char zeros[MPITX_OBJECT_ZEROS];
    memset(zeros, 0, sizeof zeros);
    __asm__ volatile("" : : "r"(zeros) : "memory");
    int code = mpi.T_event_handle_alloc(index, object, info, native);
    __asm__ volatile("" : : "r"(zeros) : "memory");
    return code;
}

int mpitx_event_bind(int index, void *object, mpitx_handle info, mpitx_handle *registration)
{
    *registration = 0;
    if (!mpi.T_event_handle_alloc)
        return MPITX_ERR_NOT_PROVIDED;
    struct registration *r = calloc(1, sizeof *r);
    if (!r)
        return MPITX_ERR_MEMORY;
    int code = register_below_zeros(index, object, info_in(info), &r->native);
    if (code != MPI_SUCCESS) {
        free(r);
        return rc(code);
    }
    for (r->next = registrations; !atomic_compare_exchange_weak(&registrations, &r->next, r);)
        ;
    *registration = (mpitx_handle)r;
    return MPITX_SUCCESS;
}

static int x_event_handle_alloc(int index, int object, mpitx_handle info, mpitx_handle *registration)
{
    return mpitx_event_bind(index, object_address(object), info, registration);
}

/* A null registration gives a null pointer, which the library is to refuse. */
static void *native_of(mpitx_handle registration) { return registration ? ((struct registration *)registration)->native : NULL; }

static int x_event_handle_set_info(mpitx_handle r, mpitx_handle info) { return PROVIDED(mpi.T_event_handle_set_info, native_of(r), info_in(info)); }

static int x_event_handle_get_info(mpitx_handle r, mpitx_handle *info)
{
    MPI_Info i = no_info;
    int code = PROVIDED(mpi.T_event_handle_get_info, native_of(r), &i);
    *info = code == MPITX_SUCCESS ? info_out(i) : 0;
    return code;
}

static int x_event_handle_free(mpitx_handle registration, void *user_data, mpitx_event_free_fn *function)
{
    struct registration *r = (struct registration *)registration;
    if (r) {
        r->free_function = function;
        r->free_data = user_data;
    }
    return PROVIDED(mpi.T_event_handle_free, native_of(registration), r, on_free);
}

static int x_event_register_callback(mpitx_handle registration, int safety, mpitx_handle info, void *user_data, mpitx_event_fn *function)
{
    if (!mpi.T_event_register_callback)
        return MPITX_ERR_NOT_PROVIDED;
    if (!function)
        return rc(mpi.T_event_register_callback(native_of(registration), native_safety(safety), info_in(info), NULL, NULL));
    struct callback *c = malloc(sizeof *c);
    if (!c)
        return MPITX_ERR_MEMORY;
    *c = (struct callback){(struct registration *)registration, function, user_data};
    int code = mpi.T_event_register_callback(native_of(registration), native_safety(safety), info_in(info), c, on_event);
    if (code != MPI_SUCCESS)
        free(c);
    return rc(code);
}

static int x_event_callback_set_info(mpitx_handle r, int safety, mpitx_handle info)
{
    return PROVIDED(mpi.T_event_callback_set_info, native_of(r), native_safety(safety), info_in(info));
}

static int x_event_callback_get_info(mpitx_handle r, int safety, mpitx_handle *info)
{
    MPI_Info i = no_info;
    int code = PROVIDED(mpi.T_event_callback_get_info, native_of(r), native_safety(safety), &i);
    *info = code == MPITX_SUCCESS ? info_out(i) : 0;
    return code;
}

static int x_event_set_dropped_handler(mpitx_handle registration, void *user_data, mpitx_event_dropped_fn *handler)
{
    struct registration *r = (struct registration *)registration;
    r->dropped_data = user_data;
    r->dropped = handler;
    return PROVIDED(mpi.T_event_set_dropped_handler, r->native, handler ? on_dropped : NULL);
}

/* ---- inside of a callback ---- */

static int x_event_read(mpitx_handle e, int element, void *buf) { return PROVIDED(mpi.T_event_read, (void *)e, element, buf); }
static int x_event_copy(mpitx_handle e, void *buf) { return PROVIDED(mpi.T_event_copy, (void *)e, buf); }
static int x_event_get_source(mpitx_handle e, int *source) { return PROVIDED(mpi.T_event_get_source, (void *)e, source); }

static int x_event_get_timestamp(mpitx_handle e, int64_t *timestamp)
{
    MPI_Count t = 0;
    int code = PROVIDED(mpi.T_event_get_timestamp, (void *)e, &t);
    *timestamp = (int64_t)t;
    return code;
}
