from mpi4py import MPI

world = MPI.COMM_WORLD
for _ in range(5):
    world.Barrier()
request = world.isend({"value": 7}, dest=world.rank, tag=1)
print(world.recv(source=world.rank, tag=1))
request.wait()
