/* A plugin with its own MPI library. -DHELPER makes the plugin that it loads later, which only uses the library. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#ifdef HELPER
int help(void)
{
    int value = 41, other = 0;
    MPI_Sendrecv(&value, 1, MPI_INT, 0, 0, &other, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return other == 41 ? 0 : 20;
}
#else
static int (*rank_of)(MPI_Comm, int *) = MPI_Comm_rank;

static int work(const char *helper)
{
    int rank, length;
    char version[MPI_MAX_LIBRARY_VERSION_STRING], file_name[600];
    MPI_File file;
    MPI_Get_library_version(version, &length);
#ifdef OPEN_MPI
    if (!strstr(version, "Open MPI")) return 11;
#else
    if (!strstr(version, "MPICH")) return 12;
#endif
    for (int i = 0; i < 10; i++) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (MPI_Pcontrol(2, 2.5)) return 16;
    for (int i = 0; i < 3; i++) rank_of(MPI_COMM_WORLD, &rank);
    snprintf(file_name, sizeof file_name, "%s.%ld.file", helper, (long)sizeof(MPI_Comm));
    if (MPI_File_open(MPI_COMM_SELF, file_name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file)) return 13;
    if (MPI_File_write_at_all(file, 0, version, 10, MPI_CHAR, MPI_STATUS_IGNORE)) return 14;
    MPI_File_close(&file);
    void *plugin = dlopen(helper, RTLD_NOW | RTLD_LOCAL);
    return plugin ? ((int (*)(void))dlsym(plugin, "help"))() : 15;
}

int run(int stage, const char *helper)
{
    int flag;
    if (stage == 1) return work(helper);
    if (stage == 2) return MPI_Finalize();
    MPI_Initialized(&flag);
    return flag ? 10 : MPI_Init(NULL, NULL);
}
#endif
