module solver
  implicit none
contains
  subroutine step(n)
    integer, intent(in) :: n
    print *, 'step', n
    call inner(n)
  contains
    subroutine inner(m)
      integer, intent(in) :: m
      print *, 'inner', m + n
    end subroutine inner
  end subroutine step
end module solver

subroutine outer(n)
  use solver
  integer, intent(in) :: n
  call step(n)
  print *, 'outer'
end subroutine outer

program calls
  call outer(3)
end program calls
