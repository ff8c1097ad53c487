! An operation that calls MPI itself.
subroutine add(a, b, n, type)
  use mpi
  implicit none
  integer :: n, type, a(n), b(n), rank, ierr, i
  do i = 1, 10
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  end do
  b = a + b
end subroutine add

program callbacks
  use mpi
  implicit none
  external :: add
  integer :: ierr, rank, op, a(1), b(1)
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Op_create(add, .true., op, ierr)
  a = 1
  b = 2
  call MPI_Reduce_local(a, b, 1, MPI_INTEGER, op, ierr)
  if (b(1) /= 3) call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
  call MPI_Op_free(op, ierr)
  call MPI_Finalize(ierr)
end program callbacks
