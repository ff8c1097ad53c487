! profile_fortran.F90: calls from Fortran with known numbers, for one process. -DF08 uses mpi_f08, -DF77 mpif.h, otherwise mpi.
program profile_fortran
#if defined(F08)
    use mpi_f08
#elif !defined(F77)
    use mpi
#endif
    use mpitx
    implicit none
#if defined(F77)
    include 'mpif.h'
#endif
#if defined(F08)
    type(MPI_Request) :: requests(2)
#else
    integer :: requests(2)
#endif
    integer :: out(4), in(4), error, i
    out = 1
    call MPI_Init(error)
    call mpitx_phase_begin("solve ")
    do i = 1, 5
        call first()
    end do
    call mpitx_phase_end()
    do i = 1, 3
        call second()
    end do
    call MPI_Finalize(error)
contains
    subroutine first()
        call MPI_Irecv(in, 4, MPI_INTEGER, 0, 1, MPI_COMM_SELF, requests(1), error)
        call MPI_Isend(out, 4, MPI_INTEGER, 0, 1, MPI_COMM_SELF, requests(2), error)
        call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, error)
        call MPI_Barrier(MPI_COMM_WORLD, error)
    end subroutine first
    subroutine second()
        call MPI_Barrier(MPI_COMM_WORLD, error)
        call MPI_Allreduce(out, in, 4, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
    end subroutine second
end program profile_fortran
