C     What TestLanguages counts, through mpif.h: around a ring of ranks,
C     25 messages of 400 bytes that are waited for; 7 of 16 bytes that
C     wait while the receiver looks 20000 times for another one; a
C     barrier; a sum. With an argument it ends with code 3.
      program f77
      implicit none
      include 'mpif.h'
      integer rank, size, right, left, i, ierr, total
      integer buffer(100), other(100), requests(2)
      integer status(MPI_STATUS_SIZE)
      logical flag
      call MPI_INIT(ierr)
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
      call MPI_COMM_SIZE(MPI_COMM_WORLD, size, ierr)
      right = mod(rank + 1, size)
      left = mod(rank + size - 1, size)
      do i = 1, 100
        buffer(i) = rank
      end do
      do i = 1, 25
        call MPI_IRECV(other, 100, MPI_INTEGER, left, 1,
     &                 MPI_COMM_WORLD, requests(1), ierr)
        call MPI_ISEND(buffer, 100, MPI_INTEGER, right, 1,
     &                 MPI_COMM_WORLD, requests(2), ierr)
        call MPI_WAITALL(2, requests, MPI_STATUSES_IGNORE, ierr)
      end do
      do i = 1, 7
        call MPI_SEND(buffer, 2, MPI_DOUBLE_PRECISION, right, 2,
     &                MPI_COMM_WORLD, ierr)
      end do
      call MPI_BARRIER(MPI_COMM_WORLD, ierr)
      do i = 1, 20000
        call MPI_IPROBE(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, flag,
     &                  status, ierr)
      end do
      do i = 1, 7
        call MPI_RECV(other, 2, MPI_DOUBLE_PRECISION, left, 2,
     &                MPI_COMM_WORLD, status, ierr)
      end do
      call MPI_ALLREDUCE(other, total, 1, MPI_INTEGER, MPI_SUM,
     &                   MPI_COMM_WORLD, ierr)
      print '(a,i0,a,i0)', 'rank ', rank, ' total ', total
      call MPI_FINALIZE(ierr)
      if (command_argument_count() .gt. 0) stop 3
      end
