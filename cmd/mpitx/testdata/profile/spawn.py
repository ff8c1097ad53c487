import sys
from mpi4py import MPI
parent = MPI.Comm.Get_parent()
if parent == MPI.COMM_NULL:
    kids = MPI.COMM_WORLD.Spawn(sys.executable, args=[__file__, "x y"], maxprocs=2)
    if MPI.COMM_WORLD.rank == 1:
        kids.Send([bytearray(40), MPI.BYTE], dest=1, tag=3)
    kids.Disconnect()
else:
    assert sys.argv[1] == "x y"
    if MPI.COMM_WORLD.rank == 1:
        b = bytearray(64); parent.Recv([b, MPI.BYTE], source=1, tag=3)
    parent.Disconnect()
