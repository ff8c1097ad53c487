      program f77
      implicit none
      include 'mpif.h'
      integer ierr, rank, i, status(MPI_STATUS_SIZE), request
      integer value, other
      call MPI_INIT(ierr)
      do i = 1, 5
        call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
      end do
      value = 7
      call MPI_ISEND(value, 1, MPI_INTEGER, rank, 1, MPI_COMM_WORLD,
     &               request, ierr)
      call MPI_RECV(other, 1, MPI_INTEGER, rank, 1, MPI_COMM_WORLD,
     &              status, ierr)
      call MPI_WAIT(request, status, ierr)
      call MPI_ALLREDUCE(value, other, 1, MPI_INTEGER, MPI_SUM,
     &                   MPI_COMM_WORLD, ierr)
      print *, other
      call MPI_FINALIZE(ierr)
      end
