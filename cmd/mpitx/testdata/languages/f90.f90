! What TestLanguages counts, through the module mpi. See f77.f.
program f90
  use mpi
  implicit none
  integer :: rank, size, right, left, i, buffer(100), other(100), total, ierr
  integer :: requests(2), status(MPI_STATUS_SIZE)
  logical :: flag
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
  right = modulo(rank + 1, size)
  left = modulo(rank - 1, size)
  buffer = rank
  do i = 1, 25
    call MPI_Irecv(other, 100, MPI_INTEGER, left, 1, MPI_COMM_WORLD, requests(1), ierr)
    call MPI_Isend(buffer, 100, MPI_INTEGER, right, 1, MPI_COMM_WORLD, requests(2), ierr)
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierr)
  end do
  do i = 1, 7
    call MPI_Send(buffer, 2, MPI_DOUBLE_PRECISION, right, 2, MPI_COMM_WORLD, ierr)
  end do
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  do i = 1, 20000
    call MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, flag, status, ierr)
  end do
  do i = 1, 7
    call MPI_Recv(other, 2, MPI_DOUBLE_PRECISION, left, 2, MPI_COMM_WORLD, status, ierr)
  end do
  call MPI_Allreduce(other(1), total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  print '(a,i0,a,i0)', 'rank ', rank, ' total ', total
  call MPI_Finalize(ierr)
  if (command_argument_count() > 0) stop 3
end program f90
