/* The workload and the callbacks of the rules about events that fire. mpitx check has this text in its binary, too, for the programs that
 * it writes. */
#include <stdint.h>
#include <string.h>

static struct {
    int elements, sources; /* of the event type, and of the library */
    long at[64];           /* of each element: its displacement, and the bytes of its datatype (0: unknown) */
    int size[64], ordered[16];
    int reads, level; /* whether to read the data, and the level of the callback */
    int events, data, times, source, safety, others; /* callbacks, and the times that these were wrong */
    int drops, empty_drops, frees, late;
    MPI_Count last[16];
    MPI_T_event_registration handle;
} watch;

/* Two ranks send each other messages, which arrive before their receives, and each of them sends one to itself. */
static int work(int rank)
{
    static int out[5], in[5];
    MPI_Request sends[5], receive;
    MPI_Comm duplicate;
    int found;
    for (int i = 0; i < 4; i++) MPI_Isend(&out[i], (int)sizeof out[i], MPI_BYTE, 1 - rank, i, MPI_COMM_WORLD, &sends[i]);
    MPI_Isend(&out[4], (int)sizeof out[4], MPI_BYTE, 0, 4, MPI_COMM_SELF, &sends[4]);
    for (int i = 3; i >= 0; i--) {
        MPI_Irecv(&in[i], (int)sizeof in[i], MPI_BYTE, 1 - rank, i, MPI_COMM_WORLD, &receive);
        MPI_Wait(&receive, MPI_STATUS_IGNORE);
    }
    MPI_Irecv(&in[4], (int)sizeof in[4], MPI_BYTE, 0, 4, MPI_COMM_SELF, &receive);
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
    for (int i = 0; i < 5; i++) MPI_Wait(&sends[i], MPI_STATUS_IGNORE);
    for (int i = 0; i < 2; i++) MPI_Iprobe(1 - rank, 99, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
    if (MPI_Comm_dup(MPI_COMM_SELF, &duplicate) == MPI_SUCCESS) MPI_Comm_free(&duplicate);
    return MPI_SUCCESS;
}

/* Compares each element with its place in a copy, which must not be longer than the elements. */
static int watch_data(MPI_T_event_instance instance)
{
    static unsigned char copy[65536 + 4096], one[4096];
    long end = 0;
    int wrong = 0;
    memset(copy, 0xa5, sizeof copy);
    wrong |= MPI_T_event_copy(instance, copy) != MPI_SUCCESS;
    for (int i = 0; i < watch.elements; i++) {
        if (watch.at[i] + watch.size[i] > end) end = watch.at[i] + watch.size[i];
        if (watch.size[i] == 0) return wrong; /* where the elements end is unknown */
        wrong |= MPI_T_event_read(instance, i, one) != MPI_SUCCESS || memcmp(one, copy + watch.at[i], (size_t)watch.size[i]) != 0;
    }
    for (end = (end + 15) / 16 * 16; end < (long)sizeof copy; end++) wrong |= copy[end] != 0xa5;
    return wrong;
}

static void watch_event(MPI_T_event_instance instance, MPI_T_event_registration handle, MPI_T_cb_safety safety, void *user_data)
{
    MPI_Count time = 0;
    int source = -1;
    if (watch.frees > 0) {
        watch.late++;
        return;
    }
    watch.events++;
    watch.others += handle != watch.handle || user_data != &watch;
    watch.safety += (int)safety > watch.level;
    if (watch.reads) {
        watch.data += watch_data(instance);
        return;
    }
    if (MPI_T_event_get_source(instance, &source) != MPI_SUCCESS || source < 0 || source >= watch.sources) {
        watch.source++;
    } else if (source < 16 && watch.ordered[source]) {
        watch.times += MPI_T_event_get_timestamp(instance, &time) != MPI_SUCCESS || time < watch.last[source];
        watch.last[source] = time;
    }
}

static void watch_dropped(MPI_Count count, MPI_T_event_registration handle, int source, MPI_T_cb_safety safety, void *user_data)
{
    (void)safety, (void)user_data;
    watch.drops++;
    watch.empty_drops += count <= 0 || handle != watch.handle || source < 0 || source >= watch.sources;
}

static void watch_freed(MPI_T_event_registration handle, MPI_T_cb_safety safety, void *user_data)
{
    (void)handle, (void)safety;
    watch.frees += user_data == &watch;
}
