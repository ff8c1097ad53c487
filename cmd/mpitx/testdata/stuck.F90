! stuck.F90: each rank waits for a message that nobody sends; with -DF08 in the interface of Fortran 2008.
program stuck
#ifdef F08
  use mpi_f08
#else
  use mpi
#endif
  implicit none
  integer :: error
  call MPI_Init(error)
  call waits()
  call MPI_Finalize(error)
contains
  subroutine waits()
    integer :: value, rank, ierror
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
    call MPI_Recv(value, 1, MPI_INTEGER, ieor(rank, 1), 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
  end subroutine
end program
