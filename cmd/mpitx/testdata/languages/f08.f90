! What TestLanguages counts, through mpi_f08. See f77.f.
program f08
  use mpi_f08
  implicit none
  integer :: rank, size, right, left, i, buffer(100), other(100), total
  logical :: flag
  type(MPI_Request) :: requests(2)
  type(MPI_Status) :: status
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  right = modulo(rank + 1, size)
  left = modulo(rank - 1, size)
  buffer = rank
  do i = 1, 25
    call MPI_Irecv(other, 100, MPI_INTEGER, left, 1, MPI_COMM_WORLD, requests(1))
    call MPI_Isend(buffer, 100, MPI_INTEGER, right, 1, MPI_COMM_WORLD, requests(2))
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
  end do
  do i = 1, 7
    call MPI_Send(buffer, 2, MPI_DOUBLE_PRECISION, right, 2, MPI_COMM_WORLD)
  end do
  call MPI_Barrier(MPI_COMM_WORLD)
  do i = 1, 20000
    call MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, flag, status)
  end do
  do i = 1, 7
    call MPI_Recv(other, 2, MPI_DOUBLE_PRECISION, left, 2, MPI_COMM_WORLD, status)
  end do
  call MPI_Allreduce(other(1), total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  print '(a,i0,a,i0)', 'rank ', rank, ' total ', total
  call MPI_Finalize()
  if (command_argument_count() > 0) stop 3
end program f08
