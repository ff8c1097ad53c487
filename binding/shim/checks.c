/* checks.c: what only the rules of mpitx check call. Part of shim.c. */

static int x_get_info_without(int list, int index, unsigned without)
{
    static char name[1024], desc[8192];
    int name_len = sizeof name, desc_len = sizeof desc, n[7];
    MPI_Datatype type;
    MPI_T_enum enumtype;
#define OUT(k, address) (without >> (k) & 1 ? NULL : (address))
    switch (list) {
    case MPITX_CVARS:
        return rc(mpi.T_cvar_get_info(index, OUT(0, name), OUT(1, &name_len), OUT(2, &n[0]), OUT(3, &type), OUT(4, &enumtype), OUT(5, desc),
                                      OUT(6, &desc_len), OUT(7, &n[1]), OUT(8, &n[2])));
    case MPITX_PVARS:
        return rc(mpi.T_pvar_get_info(index, OUT(0, name), OUT(1, &name_len), OUT(2, &n[0]), OUT(3, &n[1]), OUT(4, &type), OUT(5, &enumtype),
                                      OUT(6, desc), OUT(7, &desc_len), OUT(8, &n[2]), OUT(9, &n[3]), OUT(10, &n[4]), OUT(11, &n[5])));
    default:
        return rc(mpi.T_category_get_info(index, OUT(0, name), OUT(1, &name_len), OUT(2, desc), OUT(3, &desc_len), OUT(4, &n[0]), OUT(5, &n[1]),
                                          OUT(6, &n[2])));
    }
}

static int x_watch_errors(mpitx_error_fn *function)
{
    MPI_Errhandler handler;
    if (!mpi.Comm_create_errhandler)
        return MPITX_ERR_NOT_PROVIDED;
    int code = mpi.Comm_create_errhandler((MPI_Comm_errhandler_function *)function, &handler);
    if (code == MPI_SUCCESS)
        code = mpi.Comm_set_errhandler(world, handler);
    return rc(code == MPI_SUCCESS ? mpi.Comm_set_errhandler(self, handler) : code);
}

static void *named(const char *name, int public_name) { return public_name ? dlsym(library, name) : mpi_routine(library, name); }

static void x_public_names(int on)
{
#define RENAME(name, ...)                                                                                              \
    if (strncmp(#name, "T_", 2) == 0 && named("MPI_" #name, on))                                                       \
        mpi.name = (__typeof__(mpi.name))named("MPI_" #name, on);
    REQUIRED(RENAME)
    OPTIONAL(RENAME)
    MPI4(RENAME)
}
