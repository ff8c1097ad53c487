program f90
  use mpi
  implicit none
  integer :: ierr, rank, i, request, value(1), other(1), status(MPI_STATUS_SIZE)
  call MPI_Init(ierr)
  do i = 1, 5
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  end do
  value = 7
  call MPI_Isend(value, 1, MPI_INTEGER, rank, 1, MPI_COMM_WORLD, request, ierr)
  call MPI_Recv(other, 1, MPI_INTEGER, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  call MPI_Wait(request, status, ierr)
  call MPI_Allreduce(value, other, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  print *, other
  call MPI_Finalize(ierr)
end program f90
