/* shim.c: the neutral function table over one MPI family, compiled with that family's mpi.h and not linked to its library.
 *
  * Routines are bound by dlsym on the library that the caller has loaded, so that one shim serves every release of its family: a missing
  * routine is reported and does not prevent loading. Constants that are newer than the header are defined in family.h. */
#define _GNU_SOURCE
#include "family.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "mpitx.h"

/* ---- the library's routines ---- */

/* Types of MPI-4's routines, which mpi.h may lack; it has the types of all others. Registrations and instances are pointers in every
 * family; the enumerations are ints. */
typedef void native_event_fn(void *instance, void *registration, int safety, void *user_data);
typedef void native_free_fn(void *registration, int safety, void *user_data);
typedef void native_dropped_fn(MPI_Count count, void *registration, int source, int safety, void *user_data);
#define MPI4(X)                                                                                                        \
    X(T_category_get_num_events, int, int *)                                                                           \
    X(T_category_get_events, int, int, int[])                                                                          \
    X(T_source_get_num, int *)                                                                                         \
    X(T_source_get_info, int, char *, int *, char *, int *, int *, MPI_Count *, MPI_Count *, MPI_Info *)               \
    X(T_source_get_timestamp, int, MPI_Count *)                                                                        \
    X(T_event_get_num, int *)                                                                                          \
    X(T_event_get_info, int, char *, int *, int *, MPI_Datatype[], MPI_Aint[], int *, MPI_T_enum *, MPI_Info *,        \
      char *, int *, int *)                                                                                            \
    X(T_event_get_index, const char *, int *)                                                                          \
    X(T_event_handle_alloc, int, void *, MPI_Info, void **)                                                            \
    X(T_event_handle_set_info, void *, MPI_Info)                                                                       \
    X(T_event_handle_get_info, void *, MPI_Info *)                                                                     \
    X(T_event_handle_free, void *, void *, native_free_fn *)                                                           \
    X(T_event_register_callback, void *, int, MPI_Info, void *, native_event_fn *)                                     \
    X(T_event_callback_set_info, void *, int, MPI_Info)                                                                \
    X(T_event_callback_get_info, void *, int, MPI_Info *)                                                              \
    X(T_event_set_dropped_handler, void *, native_dropped_fn *)                                                        \
    X(T_event_read, void *, int, void *)                                                                               \
    X(T_event_copy, void *, void *)                                                                                    \
    X(T_event_get_timestamp, void *, MPI_Count *)                                                                      \
    X(T_event_get_source, void *, int *)

#define REQUIRED(X)                                                                                                    \
    X(Get_version) X(Get_library_version) X(Initialized) X(Finalized) X(Init_thread) X(Finalize)                       \
    X(Comm_rank) X(Comm_size) X(Comm_set_errhandler) X(Get_processor_name) X(Isend) X(Irecv) X(Iprobe) X(Test)         \
    X(Get_count) X(T_init_thread) X(T_finalize) X(T_enum_get_info) X(T_enum_get_item) X(T_cvar_get_num)                \
    X(T_cvar_get_info) X(T_cvar_handle_alloc) X(T_cvar_handle_free) X(T_cvar_read) X(T_cvar_write)                     \
    X(T_pvar_get_num) X(T_pvar_get_info) X(T_pvar_session_create) X(T_pvar_session_free) X(T_pvar_handle_alloc)        \
    X(T_pvar_handle_free) X(T_pvar_start) X(T_pvar_stop) X(T_pvar_read) X(T_pvar_write) X(T_pvar_reset)                \
    X(T_pvar_readreset) X(T_category_get_num) X(T_category_get_info) X(T_category_get_cvars)                           \
    X(T_category_get_pvars) X(T_category_get_categories) X(T_category_changed)
/* Since MPI-3.1, or for PERUSE */
#define OPTIONAL(X)                                                                                                    \
    X(Query_thread) X(T_cvar_get_index) X(T_pvar_get_index) X(T_category_get_index) X(Comm_dup) X(Comm_free)           \
    X(Comm_create_errhandler)                                                                                          \
    X(Info_create) X(Info_set) X(Info_get_nkeys) X(Info_get_nthkey) X(Info_get) X(Info_free)

/* MPI_Info_get: what came in its place is new in MPI-4. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

#define FIELD(name) __typeof__(MPI_##name) *name;
#define NEW_FIELD(name, ...) int (*name)(__VA_ARGS__);
static struct {
    REQUIRED(FIELD)
    OPTIONAL(FIELD)
    MPI4(NEW_FIELD)
} mpi;

static void *library;
static MPI_Comm world, self;
static MPI_Info no_info;
static MPI_Datatype byte_type, no_type;

/* ---- conversion of the library's numbers ---- */

static int error_class(int code)
{
#define CLASS(name) MPI_ERR_##name,
    static const int classes[] = {MPITX_ERROR_CLASSES(CLASS)};
    for (int i = 0; i < (int)(sizeof classes / sizeof *classes); i++)
        if (classes[i] == code)
            return MPITX_ERR_CLASS + i;
    return MPITX_ERR_OTHER + code;
}

/* MPI-3.0 headers lack some constants. The standard ABI's are enumerators, which the preprocessor does not see. */
static int rc(int code)
{
    if (code == MPI_SUCCESS)
        return MPITX_SUCCESS;
#ifdef ERROR_CLASS_MASK
    if (code > ERROR_CLASS_MASK)
        code &= ERROR_CLASS_MASK;
#endif
    switch (code) {
    case MPI_T_ERR_MEMORY: return MPITX_ERR_MEMORY;
    case MPI_T_ERR_NOT_INITIALIZED: return MPITX_ERR_NOT_INITIALIZED;
    case MPI_T_ERR_CANNOT_INIT: return MPITX_ERR_CANNOT_INIT;
    case MPI_T_ERR_INVALID_INDEX: return MPITX_ERR_INVALID_INDEX;
#if defined MPI_T_ERR_INVALID_ITEM || defined MPI_ABI_VERSION
    case MPI_T_ERR_INVALID_ITEM: return MPITX_ERR_INVALID_ITEM;
#endif
    case MPI_T_ERR_INVALID_HANDLE: return MPITX_ERR_INVALID_HANDLE;
    case MPI_T_ERR_OUT_OF_HANDLES: return MPITX_ERR_OUT_OF_HANDLES;
    case MPI_T_ERR_OUT_OF_SESSIONS: return MPITX_ERR_OUT_OF_SESSIONS;
    case MPI_T_ERR_INVALID_SESSION: return MPITX_ERR_INVALID_SESSION;
    case MPI_T_ERR_CVAR_SET_NOT_NOW: return MPITX_ERR_CVAR_SET_NOT_NOW;
    case MPI_T_ERR_CVAR_SET_NEVER: return MPITX_ERR_CVAR_SET_NEVER;
    case MPI_T_ERR_PVAR_NO_STARTSTOP: return MPITX_ERR_PVAR_NO_STARTSTOP;
    case MPI_T_ERR_PVAR_NO_WRITE: return MPITX_ERR_PVAR_NO_WRITE;
    case MPI_T_ERR_PVAR_NO_ATOMIC: return MPITX_ERR_PVAR_NO_ATOMIC;
#if defined MPI_T_ERR_INVALID_NAME || defined MPI_ABI_VERSION
    case MPI_T_ERR_INVALID_NAME: return MPITX_ERR_INVALID_NAME;
#endif
#if defined MPI_T_ERR_INVALID || defined MPI_ABI_VERSION
    case MPI_T_ERR_INVALID: return MPITX_ERR_INVALID;
#endif
    case NEW_ERR_NOT_ACCESSIBLE: return MPITX_ERR_NOT_ACCESSIBLE;
    case NEW_ERR_NOT_SUPPORTED: return MPITX_ERR_NOT_SUPPORTED;
    default: return error_class(code);
    }
}

/* Returns the position of the library's number in a table, from 1. */
static int neutral(int value, const int *table, int n)
{
    for (int i = 0; i < n; i++)
        if (table[i] == value)
            return i + 1;
    return MPITX_UNKNOWN + (value & (MPITX_UNKNOWN - 1));
}
#define NEUTRAL(value, table) neutral(value, table, (int)(sizeof(table) / sizeof *(table)))

static const int verbosities[] = {
    MPI_T_VERBOSITY_USER_BASIC,   MPI_T_VERBOSITY_USER_DETAIL,   MPI_T_VERBOSITY_USER_ALL,
    MPI_T_VERBOSITY_TUNER_BASIC,  MPI_T_VERBOSITY_TUNER_DETAIL,  MPI_T_VERBOSITY_TUNER_ALL,
    MPI_T_VERBOSITY_MPIDEV_BASIC, MPI_T_VERBOSITY_MPIDEV_DETAIL, MPI_T_VERBOSITY_MPIDEV_ALL};
static const int binds[] = {
    MPI_T_BIND_NO_OBJECT, MPI_T_BIND_MPI_COMM,  MPI_T_BIND_MPI_DATATYPE, MPI_T_BIND_MPI_ERRHANDLER,
    MPI_T_BIND_MPI_FILE,  MPI_T_BIND_MPI_GROUP, MPI_T_BIND_MPI_OP,       MPI_T_BIND_MPI_REQUEST,
    MPI_T_BIND_MPI_WIN,   MPI_T_BIND_MPI_MESSAGE, MPI_T_BIND_MPI_INFO,   NEW_BIND_MPI_SESSION};
static const int scopes[] = {
    MPI_T_SCOPE_CONSTANT, MPI_T_SCOPE_READONLY, MPI_T_SCOPE_LOCAL, MPI_T_SCOPE_GROUP,
    MPI_T_SCOPE_GROUP_EQ, MPI_T_SCOPE_ALL,      MPI_T_SCOPE_ALL_EQ};
static const int classes[] = {
    MPI_T_PVAR_CLASS_STATE,         MPI_T_PVAR_CLASS_LEVEL,        MPI_T_PVAR_CLASS_SIZE,    MPI_T_PVAR_CLASS_PERCENTAGE,
    MPI_T_PVAR_CLASS_HIGHWATERMARK, MPI_T_PVAR_CLASS_LOWWATERMARK, MPI_T_PVAR_CLASS_COUNTER, MPI_T_PVAR_CLASS_AGGREGATE,
    MPI_T_PVAR_CLASS_TIMER,         MPI_T_PVAR_CLASS_GENERIC};

static MPI_Datatype types[MPITX_TYPE_LAST + 1]; /* by mpitx_datatype; 0 if unknown */

static void load_types(void)
{
#define TYPE(ours, constant, symbol) types[MPITX_TYPE_##ours] = PREDEFINED(library, constant, "ompi_mpi_" symbol)
    TYPE(INT, MPI_INT, "int");
    TYPE(UNSIGNED, MPI_UNSIGNED, "unsigned");
    TYPE(UNSIGNED_LONG, MPI_UNSIGNED_LONG, "unsigned_long");
    TYPE(UNSIGNED_LONG_LONG, MPI_UNSIGNED_LONG_LONG, "unsigned_long_long");
    TYPE(COUNT, MPI_COUNT, "count");
    TYPE(CHAR, MPI_CHAR, "char");
    TYPE(DOUBLE, MPI_DOUBLE, "double");
    TYPE(INT32_T, MPI_INT32_T, "int32_t");
    TYPE(INT64_T, MPI_INT64_T, "int64_t");
    TYPE(UINT32_T, MPI_UINT32_T, "uint32_t");
    TYPE(UINT64_T, MPI_UINT64_T, "uint64_t");
    TYPE(C_BOOL, MPI_C_BOOL, "c_bool");
    TYPE(LONG, MPI_LONG, "long");
    TYPE(LONG_LONG, MPI_LONG_LONG_INT, "long_long_int");
    TYPE(SHORT, MPI_SHORT, "short");
    TYPE(UNSIGNED_SHORT, MPI_UNSIGNED_SHORT, "unsigned_short");
    TYPE(SIGNED_CHAR, MPI_SIGNED_CHAR, "signed_char");
    TYPE(UNSIGNED_CHAR, MPI_UNSIGNED_CHAR, "unsigned_char");
    TYPE(FLOAT, MPI_FLOAT, "float");
    TYPE(INT8_T, MPI_INT8_T, "int8_t");
    TYPE(INT16_T, MPI_INT16_T, "int16_t");
    TYPE(UINT8_T, MPI_UINT8_T, "uint8_t");
    TYPE(UINT16_T, MPI_UINT16_T, "uint16_t");
    TYPE(AINT, MPI_AINT, "aint");
    TYPE(OFFSET, MPI_OFFSET, "offset");
    TYPE(BYTE, MPI_BYTE, "byte");
}

static int neutral_type(MPI_Datatype t)
{
    for (int i = 1; i <= MPITX_TYPE_LAST; i++)
        if (types[i] == t && t != (MPI_Datatype)0)
            return i;
    return MPITX_UNKNOWN + (int)((uintptr_t)t & (MPITX_UNKNOWN - 1));
}

/* The communicators by mpitx_object: MPI_COMM_WORLD, MPI_COMM_SELF, and those that comm_dup made. */
static struct {
    MPI_Comm comm;
    char zeros[MPITX_OBJECT_ZEROS];
} objects[MPITX_OBJECT_LAST + 1];

/* Returns the address of an object's handle, as MPI_T takes it. */
static void *object_address(int object)
{
    if (object == MPITX_OBJECT_NOWHERE)
        return (void *)8;
    return object > MPITX_OBJECT_NONE && object <= MPITX_OBJECT_LAST ? &objects[object] : NULL;
}

/* ---- the library as a whole ---- */

static int x_get_version(int *version, int *subversion) { return rc(mpi.Get_version(version, subversion)); }

static int x_get_library_version(char *buf, int len)
{
    static char text[16384]; /* larger than any MPI_MAX_LIBRARY_VERSION_STRING, as the header's may be smaller than the library's */
    int n = 0;
    int code = mpi.Get_library_version(text, &n);
    if (code == MPI_SUCCESS && len > 0)
        snprintf(buf, (size_t)len, "%s", text);
    return rc(code);
}

static int x_initialized(int *flag) { return rc(mpi.Initialized(flag)); }
static int x_finalized(int *flag) { return rc(mpi.Finalized(flag)); }

static int x_init_thread(int required, int *provided)
{
    int got = 0;
    int code = mpi.Init_thread(NULL, NULL, mpi_thread_levels[required - 1], &got);
    if (code != MPI_SUCCESS)
        return rc(code);
    if (provided)
        *provided = NEUTRAL(got, mpi_thread_levels);
    MPI_Errhandler errors_return = PREDEFINED(library, MPI_ERRORS_RETURN, "ompi_mpi_errors_return");
    mpi.Comm_set_errhandler(world, errors_return);
    mpi.Comm_set_errhandler(self, errors_return);
    return MPITX_SUCCESS;
}

static int x_finalize(void) { return rc(mpi.Finalize()); }

static int x_query_thread(int *provided)
{
    int got = 0;
    if (!mpi.Query_thread)
        return MPITX_ERR_NOT_PROVIDED;
    int code = mpi.Query_thread(&got);
    *provided = NEUTRAL(got, mpi_thread_levels);
    return rc(code);
}

static int x_has(const char *name)
{
    return mpi_routine(library, name) != NULL;
}

/* Stock MPICH has only the six registration stubs of QMPI. */
static int x_qmpi(void) { return dlsym(library, "QMPI_Barrier") != NULL; }

static void *x_symbol(const char *name) { return dlsym(library, name); }

#include "qmpi.c"

/* ---- communication ---- */

struct mpitx_request {
    MPI_Request request;
};

static int x_world(int *rank, int *size)
{
    int code = mpi.Comm_rank(world, rank);
    return rc(code == MPI_SUCCESS ? mpi.Comm_size(world, size) : code);
}

static int x_processor_name(char *buf, int len)
{
    char name[1024];
    int n = 0;
    int code = mpi.Get_processor_name(name, &n);
    if (code == MPI_SUCCESS && len > 0)
        snprintf(buf, (size_t)len, "%.*s", n, name);
    return rc(code);
}

static int keep(int code, MPI_Request request, mpitx_request *out)
{
    *out = NULL;
    if (code != MPI_SUCCESS)
        return rc(code);
    if ((*out = malloc(sizeof **out)) == NULL)
        return MPITX_ERR_MEMORY;
    (*out)->request = request;
    return MPITX_SUCCESS;
}

static int x_isend(int object, const void *buf, int bytes, int dest, int tag, mpitx_request *out)
{
    MPI_Request r;
    int code = mpi.Isend((void *)buf, bytes, byte_type, dest, tag, objects[object].comm, &r);
    return keep(code, r, out);
}

static int x_irecv(int object, void *buf, int bytes, int source, int tag, mpitx_request *out)
{
    MPI_Request r;
    int code = mpi.Irecv(buf, bytes, byte_type, source, tag, objects[object].comm, &r);
    return keep(code, r, out);
}

static int x_iprobe(int object, int source, int tag, int *flag, int *actual_source, int *bytes)
{
    MPI_Status status;
    int here = 0, n = 0;
    int code = mpi.Iprobe(source < 0 ? MPI_ANY_SOURCE : source, tag, objects[object].comm, &here, &status);
    if (flag)
        *flag = here;
    if (code != MPI_SUCCESS || !here)
        return rc(code);
    if (actual_source)
        *actual_source = status.MPI_SOURCE;
    code = mpi.Get_count(&status, byte_type, &n);
    if (bytes)
        *bytes = n;
    return rc(code);
}

static int x_test(mpitx_request *request, int *flag)
{
    int done = 0;
    int code = mpi.Test(&(*request)->request, &done, MPI_STATUS_IGNORE);
    if (done || code != MPI_SUCCESS) {
        free(*request);
        *request = NULL;
    }
    if (flag)
        *flag = done;
    return rc(code);
}

/* Numbers are not used again, so that a freed communicator's stays invalid. */
static int x_comm_dup(int object, int *duplicate)
{
    static int next = MPITX_OBJECT_COMM_SELF + 1;
    if (!mpi.Comm_dup)
        return MPITX_ERR_NOT_PROVIDED;
    if (next > MPITX_OBJECT_LAST)
        return MPITX_ERR_OUT_OF_HANDLES;
    int code = mpi.Comm_dup(objects[object].comm, &objects[next].comm);
    if (code == MPI_SUCCESS)
        *duplicate = next++;
    return rc(code);
}

static int x_comm_free(int *object)
{
    if (!mpi.Comm_free)
        return MPITX_ERR_NOT_PROVIDED;
    int code = mpi.Comm_free(&objects[*object].comm);
    *object = MPITX_OBJECT_NONE;
    return rc(code);
}

/* ---- 14.3.4 ---- */

static int x_t_init_thread(int required, int *provided)
{
    int got = 0;
    int code = mpi.T_init_thread(mpi_thread_levels[required - 1], &got);
    if (provided)
        *provided = code == MPI_SUCCESS ? NEUTRAL(got, mpi_thread_levels) : 0;
    return rc(code);
}

static int x_t_finalize(void) { return rc(mpi.T_finalize()); }

/* ---- 14.3.5 ---- */

static int x_enum_get_info(mpitx_handle e, int *num, char *name, int *name_len)
{
    return rc(mpi.T_enum_get_info((MPI_T_enum)e, num, name, name_len));
}

static int x_enum_get_item(mpitx_handle e, int index, int *value, char *name, int *name_len)
{
    return rc(mpi.T_enum_get_item((MPI_T_enum)e, index, value, name, name_len));
}

/* ---- 14.3.6 ---- */

static int x_cvar_get_num(int *num) { return rc(mpi.T_cvar_get_num(num)); }

static int x_cvar_get_info(int index, char *name, int *name_len, char *desc, int *desc_len, struct mpitx_cvar_info *out)
{
    int verbosity = -1, bind = -1, scope = -1;
    MPI_Datatype type = (MPI_Datatype)0;
    MPI_T_enum enumtype = MPI_T_ENUM_NULL;
    int code = mpi.T_cvar_get_info(index, name, name_len, &verbosity, &type, &enumtype, desc, desc_len, &bind, &scope);
    if (code == MPI_SUCCESS && out)
        *out = (struct mpitx_cvar_info){.verbosity = NEUTRAL(verbosity, verbosities),
                                        .datatype = neutral_type(type),
                                        .bind = NEUTRAL(bind, binds),
                                        .scope = NEUTRAL(scope, scopes),
                                        .enumtype = (uintptr_t)enumtype};
    return rc(code);
}

static int x_cvar_get_index(const char *name, int *index)
{
    return mpi.T_cvar_get_index ? rc(mpi.T_cvar_get_index(name, index)) : MPITX_ERR_NOT_PROVIDED;
}

static int x_cvar_handle_alloc(int index, int object, mpitx_handle *handle, int *count)
{
    MPI_T_cvar_handle h = MPI_T_CVAR_HANDLE_NULL;
    int n = -1; /* some libraries do not set it */
    int code = mpi.T_cvar_handle_alloc(index, object_address(object), &h, &n);
    *handle = (mpitx_handle)h;
    if (count)
        *count = n;
    return rc(code);
}

static int x_cvar_handle_free(mpitx_handle *handle)
{
    MPI_T_cvar_handle h = (MPI_T_cvar_handle)*handle;
    int code = mpi.T_cvar_handle_free(&h);
    *handle = (mpitx_handle)h;
    return rc(code);
}

static int x_cvar_read(mpitx_handle handle, void *buf) { return rc(mpi.T_cvar_read((MPI_T_cvar_handle)handle, buf)); }

static int x_cvar_write(mpitx_handle handle, const void *buf)
{
    return rc(mpi.T_cvar_write((MPI_T_cvar_handle)handle, (void *)buf));
}

/* ---- 14.3.7 ---- */

static int x_pvar_get_num(int *num) { return rc(mpi.T_pvar_get_num(num)); }

static int x_pvar_get_info(int index, char *name, int *name_len, char *desc, int *desc_len, struct mpitx_pvar_info *out)
{
    int verbosity = -1, var_class = -1, bind = -1, readonly = 0, continuous = 0, atomic = 0;
    MPI_Datatype type = (MPI_Datatype)0;
    MPI_T_enum enumtype = MPI_T_ENUM_NULL;
    int code = mpi.T_pvar_get_info(index, name, name_len, &verbosity, &var_class, &type, &enumtype, desc, desc_len, &bind,
                                   &readonly, &continuous, &atomic);
    if (code == MPI_SUCCESS && out)
        *out = (struct mpitx_pvar_info){.verbosity = NEUTRAL(verbosity, verbosities),
                                        .var_class = NEUTRAL(var_class, classes),
                                        .datatype = neutral_type(type),
                                        .bind = NEUTRAL(bind, binds),
                                        .readonly = readonly,
                                        .continuous = continuous,
                                        .atomic = atomic,
                                        .enumtype = (uintptr_t)enumtype};
    return rc(code);
}

static int x_pvar_get_index(const char *name, int var_class, int *index)
{
    if (!mpi.T_pvar_get_index)
        return MPITX_ERR_NOT_PROVIDED;
    if (var_class < 1 || var_class > (int)(sizeof classes / sizeof *classes))
        return MPITX_ERR_INVALID_NAME;
    return rc(mpi.T_pvar_get_index(name, classes[var_class - 1], index));
}

static int x_pvar_session_create(mpitx_handle *session)
{
    MPI_T_pvar_session s = MPI_T_PVAR_SESSION_NULL;
    int code = mpi.T_pvar_session_create(&s);
    *session = (mpitx_handle)s;
    return rc(code);
}

static int x_pvar_session_free(mpitx_handle *session)
{
    MPI_T_pvar_session s = (MPI_T_pvar_session)*session;
    int code = mpi.T_pvar_session_free(&s);
    *session = (mpitx_handle)s;
    return rc(code);
}

/* Open MPI's ABI library copies the object's handle to its stack and reads past the copy: into this frame, which is zeros. */
__attribute__((noinline)) static int alloc_below_zeros(MPI_T_pvar_session session, int index, void *object, MPI_T_pvar_handle *handle, int *count)
{
    char zeros[MPITX_OBJECT_ZEROS];
    memset(zeros, 0, sizeof zeros);
    __asm__ volatile("" : : "r"(zeros) : "memory");
    int code = mpi.T_pvar_handle_alloc(session, index, object, handle, count);
    __asm__ volatile("" : : "r"(zeros) : "memory");
    return code;
}

int mpitx_pvar_bind(mpitx_handle session, int index, void *object, mpitx_handle *handle, int *count)
{
    MPI_T_pvar_handle h = MPI_T_PVAR_HANDLE_NULL;
    int n = -1; /* Open MPI's software counters do not set it */
    int code = alloc_below_zeros((MPI_T_pvar_session)session, index, object, &h, &n);
    *handle = (mpitx_handle)h;
    if (count)
        *count = n;
    return rc(code);
}

static int x_pvar_handle_alloc(mpitx_handle session, int index, int object, mpitx_handle *handle, int *count)
{
    return mpitx_pvar_bind(session, index, object_address(object), handle, count);
}

static int x_pvar_handle_free(mpitx_handle session, mpitx_handle *handle)
{
    MPI_T_pvar_handle h = (MPI_T_pvar_handle)*handle;
    int code = mpi.T_pvar_handle_free((MPI_T_pvar_session)session, &h);
    *handle = (mpitx_handle)h;
    return rc(code);
}

#define PVAR(s, h) (MPI_T_pvar_session)(s), (MPI_T_pvar_handle)(h)
static int x_pvar_start(mpitx_handle s, mpitx_handle h) { return rc(mpi.T_pvar_start(PVAR(s, h))); }
static int x_pvar_stop(mpitx_handle s, mpitx_handle h) { return rc(mpi.T_pvar_stop(PVAR(s, h))); }
static int x_pvar_read(mpitx_handle s, mpitx_handle h, void *buf) { return rc(mpi.T_pvar_read(PVAR(s, h), buf)); }
static int x_pvar_write(mpitx_handle s, mpitx_handle h, const void *buf) { return rc(mpi.T_pvar_write(PVAR(s, h), (void *)buf)); }
static int x_pvar_reset(mpitx_handle s, mpitx_handle h) { return rc(mpi.T_pvar_reset(PVAR(s, h))); }
static int x_pvar_readreset(mpitx_handle s, mpitx_handle h, void *buf) { return rc(mpi.T_pvar_readreset(PVAR(s, h), buf)); }

/* ---- 14.3.8 ---- */

static int x_category_get_num(int *num) { return rc(mpi.T_category_get_num(num)); }

static int x_category_get_info(int index, char *name, int *name_len, char *desc, int *desc_len, int *cvars, int *pvars, int *categories)
{
    return rc(mpi.T_category_get_info(index, name, name_len, desc, desc_len, cvars, pvars, categories));
}

static int x_category_get_index(const char *name, int *index)
{
    return mpi.T_category_get_index ? rc(mpi.T_category_get_index(name, index)) : MPITX_ERR_NOT_PROVIDED;
}

static int x_category_get_cvars(int index, int len, int indices[]) { return rc(mpi.T_category_get_cvars(index, len, indices)); }
static int x_category_get_pvars(int index, int len, int indices[]) { return rc(mpi.T_category_get_pvars(index, len, indices)); }
static int x_category_get_categories(int index, int len, int indices[]) { return rc(mpi.T_category_get_categories(index, len, indices)); }
static int x_category_changed(int *stamp) { return rc(mpi.T_category_changed(stamp)); }

/* ---- MPI-4 ---- */

#define PROVIDED(f, ...) ((f) ? rc((f)(__VA_ARGS__)) : MPITX_ERR_NOT_PROVIDED)
static int x_category_get_num_events(int index, int *num) { return PROVIDED(mpi.T_category_get_num_events, index, num); }
static int x_category_get_events(int index, int len, int indices[]) { return PROVIDED(mpi.T_category_get_events, index, len, indices); }

#include "events.c"

#include "peruse.c"

#include "checks.c"

#if defined(OPEN_MPI)
static void (*unlock)(void);
static int x_t_unlock(void) { return unlock(), MPITX_SUCCESS; }
#endif

/* ---- the table ---- */

static struct mpitx_table table = {
    .version = MPITX_TABLE_VERSION,
    .size = sizeof table,
    .family = FAMILY,
#define ENTRY(name) .name = x_##name
    ENTRY(get_version), ENTRY(get_library_version), ENTRY(initialized), ENTRY(finalized), ENTRY(init_thread),
    ENTRY(finalize), ENTRY(query_thread), ENTRY(has), ENTRY(qmpi), ENTRY(symbol), ENTRY(world), ENTRY(processor_name), ENTRY(isend), ENTRY(irecv),
    ENTRY(iprobe), ENTRY(test), ENTRY(t_init_thread), ENTRY(t_finalize), ENTRY(enum_get_info), ENTRY(enum_get_item),
    ENTRY(cvar_get_num), ENTRY(cvar_get_info), ENTRY(cvar_get_index), ENTRY(cvar_handle_alloc),
    ENTRY(cvar_handle_free), ENTRY(cvar_read), ENTRY(cvar_write), ENTRY(pvar_get_num), ENTRY(pvar_get_info),
    ENTRY(pvar_get_index), ENTRY(pvar_session_create), ENTRY(pvar_session_free), ENTRY(pvar_handle_alloc),
    ENTRY(pvar_handle_free), ENTRY(pvar_start), ENTRY(pvar_stop), ENTRY(pvar_read), ENTRY(pvar_write),
    ENTRY(pvar_reset), ENTRY(pvar_readreset), ENTRY(category_get_num), ENTRY(category_get_info),
    ENTRY(category_get_index), ENTRY(category_get_cvars), ENTRY(category_get_pvars), ENTRY(category_get_categories),
    ENTRY(category_changed), ENTRY(category_get_num_events), ENTRY(category_get_events), ENTRY(source_get_num),
    ENTRY(source_get_info), ENTRY(source_get_timestamp), ENTRY(event_get_num), ENTRY(event_get_info),
    ENTRY(event_get_index), ENTRY(event_handle_alloc), ENTRY(event_handle_set_info), ENTRY(event_handle_get_info),
    ENTRY(event_handle_free), ENTRY(event_register_callback), ENTRY(event_callback_set_info),
    ENTRY(event_callback_get_info), ENTRY(event_set_dropped_handler), ENTRY(event_read), ENTRY(event_copy),
    ENTRY(event_get_timestamp), ENTRY(event_get_source), ENTRY(info_create), ENTRY(info_set), ENTRY(info_get_nkeys),
    ENTRY(info_get_nthkey), ENTRY(info_get), ENTRY(info_free), ENTRY(comm_dup), ENTRY(comm_free), ENTRY(get_info_without),
    ENTRY(watch_errors), ENTRY(public_names), ENTRY(peruse_init),
    ENTRY(peruse_query_supported_events), ENTRY(peruse_query_event), ENTRY(peruse_query_event_name),
    ENTRY(peruse_query_environment), ENTRY(peruse_query_queue_event_scope), ENTRY(peruse_event_comm_register),
    ENTRY(peruse_event_activate), ENTRY(peruse_event_deactivate), ENTRY(peruse_event_release), ENTRY(peruse_event_get),
    ENTRY(peruse_event_object_get), ENTRY(peruse_event_comm_callback_set), ENTRY(peruse_event_comm_callback_get),
    ENTRY(peruse_event_propagate), ENTRY(peruse_lock), ENTRY(peruse_unlock),
};

const struct mpitx_table *mpitx_shim_open(void *libmpi, char *missing, size_t missing_len)
{
    library = libmpi;
#define BIND(name) mpi.name = (__typeof__(mpi.name))mpi_routine(library, "MPI_" #name);
#define NEED(name)                                                                                                     \
    BIND(name)                                                                                                         \
    if (!mpi.name) {                                                                                                   \
        snprintf(missing, missing_len, "MPI_%s", #name);                                                               \
        return NULL;                                                                                                   \
    }
    REQUIRED(NEED)
    /* Another family's library has the same routines but other constants. */
#if defined(OPEN_MPI)
    if (!mpi_is_openmpi(library)) {
        snprintf(missing, missing_len, "ompi_mpi_comm_world");
        return NULL;
    }
#elif !defined(MPI_ABI_VERSION)
    if (mpi_is_openmpi(library)) {
        snprintf(missing, missing_len, "MPICH's ABI (it is Open MPI)");
        return NULL;
    }
#endif
#define BIND_NEW(name, ...) BIND(name)
    OPTIONAL(BIND)
    MPI4(BIND_NEW)
#define BIND_PERUSE(name, ...) peruse.name = (__typeof__(peruse.name))dlsym(library, "PERUSE_" #name);
    PERUSE(BIND_PERUSE)

#if defined(OPEN_MPI)
    unlock = (void (*)(void))dlsym(library, "ompi_mpit_unlock");
    table.t_unlock = unlock ? x_t_unlock : NULL;
#endif

    load_types();
    world = PREDEFINED(library, MPI_COMM_WORLD, "ompi_mpi_comm_world");
    self = PREDEFINED(library, MPI_COMM_SELF, "ompi_mpi_comm_self");
    objects[MPITX_OBJECT_COMM_WORLD].comm = world;
    objects[MPITX_OBJECT_COMM_SELF].comm = self;
    byte_type = types[MPITX_TYPE_BYTE];
    no_type = PREDEFINED(library, MPI_DATATYPE_NULL, "ompi_mpi_datatype_null");
    no_info = PREDEFINED(library, MPI_INFO_NULL, "ompi_mpi_info_null");
#ifdef MPI_T_PVAR_ALL_HANDLES
    table.pvar_all_handles = (mpitx_handle)MPI_T_PVAR_ALL_HANDLES;
#else /* MPICH: a variable in the library */
    MPI_T_pvar_handle const *all = dlsym(library, "MPI_T_PVAR_ALL_HANDLES");
    table.pvar_all_handles = all ? (mpitx_handle)*all : 0;
#endif
    return &table;
}
