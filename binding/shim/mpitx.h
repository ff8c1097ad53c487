/* mpitx.h: one MPI library as a neutral function table.
 *
  * A shim is compiled with one MPI family's mpi.h and hides everything that depends on it: no MPI handle, constant or datatype is
  * visible outside. The table is implemented by a dlopen'ed libmpi (shim.c) or the fixture MPI (fixtures/fakempi).
  *
  * Every function returns a code of the enumeration below. Functions behave like the routine of the same name in section 14.3 of
  * MPI-3.1, except where a comment says otherwise. Any out pointer may be NULL. Arguments are not checked: callers pass only indices and
  * handles from the library, as libraries crash on arguments that the standard says they reject.
 */
#ifndef MPITX_H
#define MPITX_H

#include <stddef.h>
#include <stdint.h>

#define MPITX_TABLE_VERSION 7

/* Return codes of Table 14.6 of MPI-3.1 and MPI-4's additions, in the standard's order. The numbers belong to the table's version. */
enum mpitx_rc {
    MPITX_SUCCESS = 0,
    MPITX_ERR_INVALID = 1,
    MPITX_ERR_MEMORY = 2,
    MPITX_ERR_NOT_INITIALIZED = 3,
    MPITX_ERR_CANNOT_INIT = 4,
    MPITX_ERR_INVALID_INDEX = 5,
    MPITX_ERR_INVALID_ITEM = 6,
    MPITX_ERR_INVALID_HANDLE = 7,
    MPITX_ERR_OUT_OF_HANDLES = 8,
    MPITX_ERR_OUT_OF_SESSIONS = 9,
    MPITX_ERR_INVALID_SESSION = 10,
    MPITX_ERR_INVALID_NAME = 11,
    MPITX_ERR_CVAR_SET_NOT_NOW = 12,
    MPITX_ERR_CVAR_SET_NEVER = 13,
    MPITX_ERR_PVAR_NO_STARTSTOP = 14,
    MPITX_ERR_PVAR_NO_WRITE = 15,
    MPITX_ERR_PVAR_NO_ATOMIC = 16,
    MPITX_ERR_NOT_SUPPORTED = 17,
    MPITX_ERR_NOT_ACCESSIBLE = 18,
    /* not in the standard */
    MPITX_ERR_NOT_PROVIDED = 100, /* the library does not have this routine */
    /* PERUSE 2.0, Appendix D, in its order */
    MPITX_PERUSE_ERR_INIT = 101,
    MPITX_PERUSE_ERR_GENERIC = 102,
    MPITX_PERUSE_ERR_MALLOC = 103,
    MPITX_PERUSE_ERR_EVENT = 104,
    MPITX_PERUSE_ERR_EVENT_HANDLE = 105,
    MPITX_PERUSE_ERR_PARAMETER = 106,
    MPITX_PERUSE_ERR_MPI_INIT = 107,
    MPITX_PERUSE_ERR_COMM = 108,
    MPITX_PERUSE_ERR_MPI_OBJECT = 109,
    MPITX_PERUSE_ERR_LOCK = 110,
    MPITX_PERUSE_ERR_UNLOCK = 111,
    MPITX_PERUSE_ERR_LOCK_NOT_GRANTABLE = 112,
    MPITX_ERR_CLASS = 200,        /* plus the position of an error class in MPITX_ERROR_CLASSES, from 0 */
    MPITX_ERR_OTHER = 1000        /* plus the library's own number, for codes outside the table */
};

/* MPI error classes, which libraries also return from MPI_T. Their numbers differ between families. */
#define MPITX_ERROR_CLASSES(X)                                                                                         \
    X(BUFFER) X(COUNT) X(TYPE) X(TAG) X(COMM) X(RANK) X(REQUEST) X(ROOT) X(GROUP) X(OP) X(TOPOLOGY) X(DIMS) X(ARG)     \
    X(UNKNOWN) X(TRUNCATE) X(OTHER) X(INTERN) X(IN_STATUS) X(PENDING) X(NO_MEM) X(NAME) X(WIN) X(INFO) X(KEYVAL)       \
    X(UNSUPPORTED_OPERATION)

/* Returns the name of an error class from MPITX_ERR_CLASS on; NULL for other codes. */
static inline const char *mpitx_error_class(int rc)
{
#define MPITX_NAME(name) "MPI_ERR_" #name,
    static const char *const names[] = {MPITX_ERROR_CLASSES(MPITX_NAME)};
#undef MPITX_NAME
    int k = rc - MPITX_ERR_CLASS;
    return k >= 0 && k < (int)(sizeof names / sizeof *names) ? names[k] : NULL;
}

/* Table 14.2. Unknown numbers of any enumeration are returned as MPITX_UNKNOWN plus the library's number. */
#define MPITX_UNKNOWN 0x40000000
enum mpitx_verbosity { MPITX_VERBOSITY_USER_BASIC = 1, MPITX_VERBOSITY_MPIDEV_ALL = 9 }; /* 1..9 in the table's order */

/* Table 14.3, in its order, and MPI-4's session. */
enum mpitx_bind {
    MPITX_BIND_NO_OBJECT = 1,
    MPITX_BIND_MPI_COMM,
    MPITX_BIND_MPI_DATATYPE,
    MPITX_BIND_MPI_ERRHANDLER,
    MPITX_BIND_MPI_FILE,
    MPITX_BIND_MPI_GROUP,
    MPITX_BIND_MPI_OP,
    MPITX_BIND_MPI_REQUEST,
    MPITX_BIND_MPI_WIN,
    MPITX_BIND_MPI_MESSAGE,
    MPITX_BIND_MPI_INFO,
    MPITX_BIND_MPI_SESSION
};

/* Table 14.5 */
enum mpitx_scope {
    MPITX_SCOPE_CONSTANT = 1,
    MPITX_SCOPE_READONLY,
    MPITX_SCOPE_LOCAL,
    MPITX_SCOPE_GROUP,
    MPITX_SCOPE_GROUP_EQ,
    MPITX_SCOPE_ALL,
    MPITX_SCOPE_ALL_EQ
};

/* Section 14.3.7, in its order */
enum mpitx_pvar_class {
    MPITX_PVAR_CLASS_STATE = 1,
    MPITX_PVAR_CLASS_LEVEL,
    MPITX_PVAR_CLASS_SIZE,
    MPITX_PVAR_CLASS_PERCENTAGE,
    MPITX_PVAR_CLASS_HIGHWATERMARK,
    MPITX_PVAR_CLASS_LOWWATERMARK,
    MPITX_PVAR_CLASS_COUNTER,
    MPITX_PVAR_CLASS_AGGREGATE,
    MPITX_PVAR_CLASS_TIMER,
    MPITX_PVAR_CLASS_GENERIC
};

/* MPI-4, section 15.3.8: what a callback must satisfy when it is called, each level including those before it. */
enum mpitx_cb_safety {
    MPITX_CB_REQUIRE_NONE = 1,
    MPITX_CB_REQUIRE_MPI_RESTRICTED,
    MPITX_CB_REQUIRE_THREAD_SAFE,
    MPITX_CB_REQUIRE_ASYNC_SIGNAL_SAFE
};

enum mpitx_source_order { MPITX_SOURCE_ORDERED = 1, MPITX_SOURCE_UNORDERED };

/* MPI_THREAD_SINGLE .. MPI_THREAD_MULTIPLE */
enum mpitx_thread { MPITX_THREAD_SINGLE = 1, MPITX_THREAD_FUNNELED, MPITX_THREAD_SERIALIZED, MPITX_THREAD_MULTIPLE };

/* Datatypes: those of Table 14.4, MPI-4.1's additions, and others that real libraries use. */
enum mpitx_datatype {
    MPITX_TYPE_INT = 1,
    MPITX_TYPE_UNSIGNED,
    MPITX_TYPE_UNSIGNED_LONG,
    MPITX_TYPE_UNSIGNED_LONG_LONG,
    MPITX_TYPE_COUNT,
    MPITX_TYPE_CHAR,
    MPITX_TYPE_DOUBLE,
    MPITX_TYPE_INT32_T,
    MPITX_TYPE_INT64_T,
    MPITX_TYPE_UINT32_T,
    MPITX_TYPE_UINT64_T,
    MPITX_TYPE_C_BOOL,
    MPITX_TYPE_LONG,
    MPITX_TYPE_LONG_LONG,
    MPITX_TYPE_SHORT,
    MPITX_TYPE_UNSIGNED_SHORT,
    MPITX_TYPE_SIGNED_CHAR,
    MPITX_TYPE_UNSIGNED_CHAR,
    MPITX_TYPE_FLOAT,
    MPITX_TYPE_INT8_T,
    MPITX_TYPE_INT16_T,
    MPITX_TYPE_UINT8_T,
    MPITX_TYPE_UINT16_T,
    MPITX_TYPE_AINT,
    MPITX_TYPE_OFFSET,
    MPITX_TYPE_BYTE,
    MPITX_TYPE_LAST = MPITX_TYPE_BYTE
};

_Static_assert(sizeof(long) == 8 && sizeof(void *) == 8, "datatype sizes are LP64's, here and in catalog/types.go");

/* Returns the bytes of one element; 0 for an unknown type. */
static inline size_t mpitx_type_size(int t)
{
    static const unsigned char sizes[MPITX_TYPE_LAST + 1] = {
        [MPITX_TYPE_INT] = 4, [MPITX_TYPE_UNSIGNED] = 4, [MPITX_TYPE_UNSIGNED_LONG] = 8,
        [MPITX_TYPE_UNSIGNED_LONG_LONG] = 8, [MPITX_TYPE_COUNT] = 8, [MPITX_TYPE_CHAR] = 1, [MPITX_TYPE_DOUBLE] = 8,
        [MPITX_TYPE_INT32_T] = 4, [MPITX_TYPE_INT64_T] = 8, [MPITX_TYPE_UINT32_T] = 4, [MPITX_TYPE_UINT64_T] = 8,
        [MPITX_TYPE_C_BOOL] = 1, [MPITX_TYPE_LONG] = 8, [MPITX_TYPE_LONG_LONG] = 8, [MPITX_TYPE_SHORT] = 2,
        [MPITX_TYPE_UNSIGNED_SHORT] = 2, [MPITX_TYPE_SIGNED_CHAR] = 1, [MPITX_TYPE_UNSIGNED_CHAR] = 1,
        [MPITX_TYPE_FLOAT] = 4, [MPITX_TYPE_INT8_T] = 1, [MPITX_TYPE_INT16_T] = 2, [MPITX_TYPE_UINT8_T] = 1,
        [MPITX_TYPE_UINT16_T] = 2, [MPITX_TYPE_AINT] = 8, [MPITX_TYPE_OFFSET] = 8, [MPITX_TYPE_BYTE] = 1};
    return t >= 1 && t <= MPITX_TYPE_LAST ? sizes[t] : 0;
}

/* The object that a handle is bound to: only mpitx's own objects. Communicators that comm_dup makes have the numbers after these. */
/* NOWHERE is an address that must not be followed, for handle_alloc of a variable that is not bound to an object. */
enum mpitx_object { MPITX_OBJECT_NOWHERE = -1, MPITX_OBJECT_NONE = 0, MPITX_OBJECT_COMM_WORLD = 1, MPITX_OBJECT_COMM_SELF = 2, MPITX_OBJECT_LAST = 15 };

/* Number of zeros that must follow an object's handle whose address is passed to MPI_T. Open MPI 6.0 uses the address of the handle as
 * that of the object and reads the object's state after it, up to 224 bytes for a communicator. Zeros mean a valid object. */
#define MPITX_OBJECT_ZEROS 512

/* Every (char *, int *) pair follows the string convention of section 14.3.3. */
struct mpitx_cvar_info {
    int verbosity, datatype, bind, scope;
    uintptr_t enumtype; /* 0: MPI_T_ENUM_NULL */
};

struct mpitx_pvar_info {
    int verbosity, var_class, datatype, bind;
    int readonly, continuous, atomic; /* as the library gives them: MPICH's are 2 for yes */
    uintptr_t enumtype;
};

typedef uintptr_t mpitx_handle; /* an MPI_T handle, session, enum, event registration or instance, or an MPI_Info; 0 is its null */

struct mpitx_event_info {
    int verbosity, bind, num_elements;
    uintptr_t enumtype; /* its items name the elements: an item's value is an element's index */
    uintptr_t info;     /* the caller frees it */
};

struct mpitx_source_info {
    int ordering;
    int64_t ticks_per_second, max_ticks;
    uintptr_t info; /* the caller frees it */
};

/* Callbacks. An instance is valid during the call only; it is 0 if a faulty library calls after the registration was freed. safety is
 * what the callback must satisfy now: it may be called from other threads, inside of MPI calls, and in signal handlers. */
typedef void mpitx_event_fn(mpitx_handle instance, mpitx_handle registration, int safety, void *user_data);
typedef void mpitx_event_free_fn(mpitx_handle registration, int safety, void *user_data);
typedef void mpitx_event_dropped_fn(int64_t count, mpitx_handle registration, int source, int safety, void *user_data);

/* PERUSE 2.0, Appendix D */
#define MPITX_PERUSE_EVENT_INVALID (-1) /* whatever the library's number is */
enum mpitx_peruse_scope {
    MPITX_PERUSE_PER_COMM = 1,
    MPITX_PERUSE_PER_TAG,
    MPITX_PERUSE_PER_SOURCE,
    MPITX_PERUSE_GLOBAL
};
enum mpitx_peruse_operation {
    MPITX_PERUSE_SEND = 1,
    MPITX_PERUSE_RECV,
    MPITX_PERUSE_PUT,
    MPITX_PERUSE_GET,
    MPITX_PERUSE_ACC,
    MPITX_PERUSE_IO_READ,
    MPITX_PERUSE_IO_WRITE
};

/* What a callback of PERUSE gets to know about the request or message; valid during the call only. */
struct mpitx_peruse_spec {
    uint64_t comm; /* the library's handle, only to compare */
    const void *buf;
    int count, datatype, peer, tag, operation; /* datatype 0: none */
};

/* A callback of PERUSE. It may be called in other threads and in signal handlers, and may call nothing but peruse_event_get,
 * _object_get, _comm_callback_get, the queries, and peruse_lock and _unlock. It returns 0; anything else ends the job. */
typedef int mpitx_peruse_fn(mpitx_handle event, intptr_t unique_id, const struct mpitx_peruse_spec *spec, void *param);

/* An error handler of MPI. comm is the address of the communicator's handle. */
typedef void mpitx_error_fn(void *comm, int *code, ...);

enum mpitx_list { MPITX_CVARS, MPITX_PVARS, MPITX_CATEGORIES };

/* Sizes of the buffers for an info object's keys and values, with the terminator. */
#define MPITX_INFO_KEY 1024
#define MPITX_INFO_VALUE 4096
typedef struct mpitx_request *mpitx_request;

struct mpitx_table {
    uint32_t version; /* MPITX_TABLE_VERSION */
    uint32_t size;    /* sizeof(struct mpitx_table) when compiled */
    const char *family; /* "openmpi", "mpich", "abi", "demo" */

    /* -- the library; callable before MPI_Init -- */
    int (*get_version)(int *version, int *subversion);
    int (*get_library_version)(char *buf, int len);
    int (*initialized)(int *flag);
    int (*finalized)(int *flag);
    int (*init_thread)(int required, int *provided); /* MPI_Init_thread(NULL, NULL, …), then sets MPI_ERRORS_RETURN on world and self */
    int (*finalize)(void);
    int (*query_thread)(int *provided); /* between MPI_Init and MPI_Finalize */
    int (*has)(const char *routine); /* 1 if the library provides PMPI_<routine> or <routine>, e.g. "MPI_T_event_get_num", "PERUSE_Init" */
    int (*qmpi)(void);               /* 1 if QMPI is built in, not only as stubs */
    void *(*symbol)(const char *name); /* the address of a routine of this very name, or NULL */

    /* -- messages between mpitx's own ranks; never block -- */
    int (*world)(int *rank, int *size);
    int (*processor_name)(char *buf, int len);
    int (*isend)(int object, const void *buf, int bytes, int dest, int tag, mpitx_request *request);
    int (*irecv)(int object, void *buf, int bytes, int source, int tag, mpitx_request *request);
    int (*iprobe)(int object, int source, int tag, int *flag, int *actual_source, int *bytes); /* source -1: any */
    int (*test)(mpitx_request *request, int *flag); /* frees and nulls the request when complete */

    /* -- 14.3.4 initialization and finalization -- */
    int (*t_init_thread)(int required, int *provided);
    int (*t_finalize)(void);

    /* -- 14.3.5 datatype system: enumerations -- */
    int (*enum_get_info)(mpitx_handle enumtype, int *num, char *name, int *name_len);
    int (*enum_get_item)(mpitx_handle enumtype, int index, int *value, char *name, int *name_len);

    /* -- 14.3.6 control variables -- */
    int (*cvar_get_num)(int *num);
    int (*cvar_get_info)(int index, char *name, int *name_len, char *desc, int *desc_len, struct mpitx_cvar_info *info);
    int (*cvar_get_index)(const char *name, int *index);
    int (*cvar_handle_alloc)(int index, int object, mpitx_handle *handle, int *count);
    int (*cvar_handle_free)(mpitx_handle *handle);
    int (*cvar_read)(mpitx_handle handle, void *buf);
    int (*cvar_write)(mpitx_handle handle, const void *buf);

    /* -- 14.3.7 performance variables -- */
    int (*pvar_get_num)(int *num);
    int (*pvar_get_info)(int index, char *name, int *name_len, char *desc, int *desc_len, struct mpitx_pvar_info *info);
    int (*pvar_get_index)(const char *name, int var_class, int *index);
    int (*pvar_session_create)(mpitx_handle *session);
    int (*pvar_session_free)(mpitx_handle *session);
    int (*pvar_handle_alloc)(mpitx_handle session, int index, int object, mpitx_handle *handle, int *count);
    int (*pvar_handle_free)(mpitx_handle session, mpitx_handle *handle);
    int (*pvar_start)(mpitx_handle session, mpitx_handle handle);
    int (*pvar_stop)(mpitx_handle session, mpitx_handle handle);
    int (*pvar_read)(mpitx_handle session, mpitx_handle handle, void *buf);
    int (*pvar_write)(mpitx_handle session, mpitx_handle handle, const void *buf);
    int (*pvar_reset)(mpitx_handle session, mpitx_handle handle);
    int (*pvar_readreset)(mpitx_handle session, mpitx_handle handle, void *buf);
    mpitx_handle pvar_all_handles; /* the library's MPI_T_PVAR_ALL_HANDLES */

    /* -- 14.3.8 categorization -- */
    int (*category_get_num)(int *num);
    int (*category_get_info)(int index, char *name, int *name_len, char *desc, int *desc_len, int *num_cvars, int *num_pvars, int *num_categories);
    int (*category_get_index)(const char *name, int *index);
    int (*category_get_cvars)(int index, int len, int indices[]);
    int (*category_get_pvars)(int index, int len, int indices[]);
    int (*category_get_categories)(int index, int len, int indices[]);
    int (*category_changed)(int *stamp);

    /* -- MPI-4; MPITX_ERR_NOT_PROVIDED if the library is older -- */
    int (*category_get_num_events)(int index, int *num_events);
    int (*category_get_events)(int index, int len, int indices[]);
    int (*source_get_num)(int *num);
    int (*source_get_info)(int index, char *name, int *name_len, char *desc, int *desc_len, struct mpitx_source_info *info);
    int (*source_get_timestamp)(int index, int64_t *timestamp);
    int (*event_get_num)(int *num);
    /* info->num_elements is the length of the arrays when called, and the event type's number of elements afterwards. */
    int (*event_get_info)(int index, char *name, int *name_len, char *desc, int *desc_len, int datatypes[], int64_t displacements[], struct mpitx_event_info *info);
    int (*event_get_index)(const char *name, int *index);
    int (*event_handle_alloc)(int index, int object, mpitx_handle info, mpitx_handle *registration);
    int (*event_handle_set_info)(mpitx_handle registration, mpitx_handle info);
    int (*event_handle_get_info)(mpitx_handle registration, mpitx_handle *info);
    /* Calls callback, which may be NULL, after the last callback of the registration has returned. */
    int (*event_handle_free)(mpitx_handle registration, void *user_data, mpitx_event_free_fn *callback);
    int (*event_register_callback)(mpitx_handle registration, int safety, mpitx_handle info, void *user_data, mpitx_event_fn *callback);
    int (*event_callback_set_info)(mpitx_handle registration, int safety, mpitx_handle info);
    int (*event_callback_get_info)(mpitx_handle registration, int safety, mpitx_handle *info);
    /* MPI's routine has no user_data; the handler gets this one. */
    int (*event_set_dropped_handler)(mpitx_handle registration, void *user_data, mpitx_event_dropped_fn *handler);
    /* Only inside of a callback. */
    int (*event_read)(mpitx_handle instance, int element, void *buf);
    int (*event_copy)(mpitx_handle instance, void *buf);
    int (*event_get_timestamp)(mpitx_handle instance, int64_t *timestamp);
    int (*event_get_source)(mpitx_handle instance, int *source);

    /* -- info objects, for the routines above -- */
    int (*info_create)(mpitx_handle *info);
    int (*info_set)(mpitx_handle info, const char *key, const char *value);
    int (*info_get_nkeys)(mpitx_handle info, int *num);
    int (*info_get_nthkey)(mpitx_handle info, int n, char *key); /* MPITX_INFO_KEY bytes */
    int (*info_get)(mpitx_handle info, const char *key, char *value, int *flag); /* MPITX_INFO_VALUE bytes */
    int (*info_free)(mpitx_handle *info);

    /* -- PERUSE 2.0, sections 5.2.1 to 5.2.17; MPITX_ERR_NOT_PROVIDED if the library lacks the routine -- */
    int (*peruse_init)(void);
    int (*peruse_query_supported_events)(int *num, char ***names, int **events); /* the library's memory */
    int (*peruse_query_event)(const char *name, int *event);
    int (*peruse_query_event_name)(int event, char **name); /* the library's memory */
    int (*peruse_query_environment)(int *num, char ***env); /* the library's memory */
    int (*peruse_query_queue_event_scope)(int *scope);
    int (*peruse_event_comm_register)(int event, int object, mpitx_peruse_fn *function, void *param, mpitx_handle *handle);
    int (*peruse_event_activate)(mpitx_handle handle);
    int (*peruse_event_deactivate)(mpitx_handle handle);
    int (*peruse_event_release)(mpitx_handle *handle);
    int (*peruse_event_get)(mpitx_handle handle, int *event);
    int (*peruse_event_object_get)(mpitx_handle handle, int *object); /* MPITX_UNKNOWN: not one of mpitx's own */
    int (*peruse_event_comm_callback_set)(mpitx_handle handle, mpitx_peruse_fn *function, void *param);
    int (*peruse_event_comm_callback_get)(mpitx_handle handle, mpitx_peruse_fn **function, void **param);
    int (*peruse_event_propagate)(mpitx_handle handle, int mode);
    int (*peruse_lock)(void);
    int (*peruse_unlock)(void);

    /* -- communicators to try PERUSE with: MPI_Comm_dup (collective) and MPI_Comm_free; at most MPITX_OBJECT_LAST in all -- */
    int (*comm_dup)(int object, int *duplicate);
    int (*comm_free)(int *object);

    /* -- for the rules of mpitx check -- */
    /* get_info with null pointers: bit k of without is the argument k after the index, in the order of the standard. */
    int (*get_info_without)(int list, int index, unsigned without);
    int (*watch_errors)(mpitx_error_fn *function); /* the error handler of world and self */
    void (*public_names)(int on); /* whether this table calls MPI_T_x or, as usual, PMPI_T_x */

    /* Releases the library's MPI_T lock in a process that jumped out of a crash inside it; NULL if impossible. Only for processes
     * that are discarded. */
    int (*t_unlock)(void);
};

/* A shim's entry point, exported as "mpitx_shim_open". libmpi is the library's handle from dlopen. It returns NULL if the library lacks a
 * required routine, and its name in missing. The table is static. */
const struct mpitx_table *mpitx_shim_open(void *libmpi, char *missing, size_t missing_len);

/* pvar_handle_alloc for any object, for code that is linked with the shim. object is the address of its handle, followed by
 * MPITX_OBJECT_ZEROS zeros, or NULL. */
int mpitx_pvar_bind(mpitx_handle session, int index, void *object, mpitx_handle *handle, int *count);

/* The same for event_handle_alloc. */
int mpitx_event_bind(int index, void *object, mpitx_handle info, mpitx_handle *registration);

/* peruse_event_comm_register for any communicator: comm is the address of its handle. */
int mpitx_peruse_bind(int event, void *comm, mpitx_peruse_fn *function, void *param, mpitx_handle *handle);

#endif
