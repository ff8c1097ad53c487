"""What TestLanguages counts, through mpi4py. See f77.f."""
import sys

from mpi4py import MPI

world = MPI.COMM_WORLD
rank, size = world.rank, world.size
right, left = (rank + 1) % size, (rank - 1) % size
buffer, other = bytearray([rank] * 400), bytearray(400)
for _ in range(25):
    receive = world.Irecv([other, 400, MPI.BYTE], source=left, tag=1)
    send = world.Isend([buffer, 400, MPI.BYTE], dest=right, tag=1)
    MPI.Request.Waitall([receive, send])
for _ in range(7):
    world.Send([buffer, 16, MPI.BYTE], dest=right, tag=2)
world.Barrier()
for _ in range(20000):
    world.Iprobe(source=MPI.ANY_SOURCE, tag=99)
for _ in range(7):
    world.Recv([other, 16, MPI.BYTE], source=left, tag=2)
one, total = bytearray(4), bytearray(4)
one[0] = other[0]
world.Allreduce([one, 1, MPI.INT], [total, 1, MPI.INT], op=MPI.SUM)
print(f"rank {rank} total {total[0]}", flush=True)
sys.exit(3 if len(sys.argv) > 1 else 0)
