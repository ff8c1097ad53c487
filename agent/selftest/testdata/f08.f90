program f08
  use mpi_f08
  implicit none
  integer :: ierr, rank, i, value(1), other(1)
  type(MPI_Request) :: request
  type(MPI_Status) :: status
  call MPI_Init()
  do i = 1, 5
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  end do
  value = 7
  call MPI_Isend(value, 1, MPI_INTEGER, rank, 1, MPI_COMM_WORLD, request)
  call MPI_Recv(other, 1, MPI_INTEGER, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  call MPI_Wait(request, status, ierr)
  call MPI_Allreduce(value, other, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  print *, other
  call MPI_Finalize()
end program f08
