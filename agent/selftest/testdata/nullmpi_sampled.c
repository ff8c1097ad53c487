/* nullmpi_sampled.c: the functions that the sampler and traces need in addition to nullmpi.c. Compiled without mpi.h, to omit parameters. */
#define FUNCTION(name, parameters, ...)                                                                                \
    int PMPI_##name parameters { __VA_ARGS__; }                                                                        \
    int MPI_##name parameters __attribute__((weak, alias("PMPI_" #name)));
#define NONE(name) FUNCTION(name, (int *number), *number = 0; return 0)
#define FAILS(name) FUNCTION(name, (void), return 16)

FUNCTION(Get_version, (int *version, int *subversion), *version = 3; *subversion = 1; return 0)
FUNCTION(T_init_thread, (int required, int *provided), *provided = required; return 0)
NONE(Finalized) NONE(T_cvar_get_num) NONE(T_pvar_get_num) NONE(T_category_get_num) NONE(T_category_changed)
FAILS(Init_thread) FAILS(Comm_group) FAILS(Comm_set_errhandler) FAILS(Get_processor_name) FAILS(Isend) FAILS(Irecv) FAILS(Iprobe) FAILS(Test) FAILS(Get_count)
FAILS(T_finalize) FAILS(T_enum_get_info) FAILS(T_enum_get_item) FAILS(T_cvar_get_info) FAILS(T_cvar_handle_alloc) FAILS(T_cvar_handle_free)
FAILS(T_cvar_read) FAILS(T_cvar_write) FAILS(T_pvar_get_info) FAILS(T_pvar_session_create) FAILS(T_pvar_session_free) FAILS(T_pvar_handle_alloc)
FAILS(T_pvar_handle_free) FAILS(T_pvar_start) FAILS(T_pvar_stop) FAILS(T_pvar_read) FAILS(T_pvar_write) FAILS(T_pvar_reset) FAILS(T_pvar_readreset)
FAILS(T_category_get_info) FAILS(T_category_get_cvars) FAILS(T_category_get_pvars) FAILS(T_category_get_categories)
