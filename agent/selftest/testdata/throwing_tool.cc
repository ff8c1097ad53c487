// throwing_tool.cc: throws through the wrapper of MPI_Send.
#include <qmpi.h>
#include <stdexcept>

static int send(MPI_Context, int, const void *, int, MPI_Datatype, int, int, MPI_Comm) { throw std::runtime_error("left"); }

static void init(int tool_id) { MPI_Register_tool_function(tool_id, MPI_SEND_T, reinterpret_cast<void (*)()>(send)); }

__attribute__((constructor)) static void start() { MPI_Register_tool_name("throwing", init); }
