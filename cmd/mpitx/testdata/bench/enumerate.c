/* enumerate.c: the least that a C program must do to learn what `mpitx list` tells of one stage: query every variable, read it,
 * and query the categories. enumerate before|after|init; "init" is MPI_Init and MPI_Finalize alone. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

static char name[1024], desc[8192], value[1 << 20];

int main(int argc, char **argv)
{
    const char *stage = argc > 1 ? argv[1] : "after";
    int after = strcmp(stage, "before") != 0, provided, n;
    if (after)
        MPI_Init(&argc, &argv);
    if (strcmp(stage, "init") == 0)
        return MPI_Finalize();
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);

    MPI_T_cvar_get_num(&n);
    for (int i = 0; i < n; i++) {
        int name_len = sizeof name, desc_len = sizeof desc, verbosity, bind, scope, count;
        MPI_Datatype type;
        MPI_T_enum items;
        MPI_T_cvar_handle handle;
        if (MPI_T_cvar_get_info(i, name, &name_len, &verbosity, &type, &items, desc, &desc_len, &bind, &scope) != MPI_SUCCESS ||
            MPI_T_cvar_handle_alloc(i, NULL, &handle, &count) != MPI_SUCCESS)
            continue;
        MPI_T_cvar_read(handle, value);
        MPI_T_cvar_handle_free(&handle);
    }

    MPI_Comm world = MPI_COMM_WORLD;
    MPI_T_pvar_session session;
    MPI_T_pvar_session_create(&session);
    MPI_T_pvar_get_num(&n);
    for (int i = 0; i < n; i++) {
        int name_len = sizeof name, desc_len = sizeof desc, verbosity, class, bind, readonly, continuous, atomic, count;
        MPI_Datatype type;
        MPI_T_enum items;
        MPI_T_pvar_handle handle;
        if (MPI_T_pvar_get_info(i, name, &name_len, &verbosity, &class, &type, &items, desc, &desc_len, &bind, &readonly, &continuous, &atomic) != MPI_SUCCESS)
            continue;
        if (strncmp(name, "mtl_psm2_", 9) == 0 || (bind != MPI_T_BIND_NO_OBJECT && (bind != MPI_T_BIND_MPI_COMM || !after)))
            continue; /* crashes Open MPI; cannot be opened here */
        if (MPI_T_pvar_handle_alloc(session, i, bind == MPI_T_BIND_MPI_COMM ? &world : NULL, &handle, &count) != MPI_SUCCESS)
            continue;
        MPI_T_pvar_read(session, handle, value);
        MPI_T_pvar_handle_free(session, &handle);
    }

    MPI_T_category_get_num(&n);
    for (int i = 0; i < n; i++) {
        int name_len = sizeof name, desc_len = sizeof desc, cvars, pvars, categories;
        if (MPI_T_category_get_info(i, name, &name_len, desc, &desc_len, &cvars, &pvars, &categories) != MPI_SUCCESS)
            continue;
        MPI_T_category_get_cvars(i, cvars, (int *)(void *)value);
        MPI_T_category_get_pvars(i, pvars, (int *)(void *)value);
        MPI_T_category_get_categories(i, categories, (int *)(void *)value);
    }
    if (after)
        MPI_Finalize();
    return 0;
}
