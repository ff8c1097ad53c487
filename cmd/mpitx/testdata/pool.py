"""A pool of processes: the ranks sleep outside of MPI while it works, for the tests of `mpitx where`."""
import multiprocessing
import os
import time

from mpi4py import MPI

def work(parent):
    while os.getppid() == parent:
        time.sleep(0.1)

if __name__ == "__main__":
    multiprocessing.set_start_method("fork")
    with multiprocessing.Pool(2) as pool:
        pool.map(work, [os.getpid()] * 4)
    MPI.COMM_WORLD.barrier()
