! mpitx.f90: names the phases of an application for profiles by mpitx. Compile it with the application.
!
!     use mpitx
!     call mpitx_phase_begin("solve")
!     call mpitx_phase_end()
!
! mpitx.h describes phases.
module mpitx
    use, intrinsic :: iso_c_binding, only: c_char, c_int, c_null_char
    implicit none
    private
    public :: mpitx_phase_begin, mpitx_phase_end

    integer(c_int), parameter :: phase_begin = int(z'4d545801', c_int), phase_end = int(z'4d545802', c_int)

    interface
        function pcontrol(level, name) bind(c, name="MPI_Pcontrol") result(error)
            import :: c_char, c_int
            integer(c_int), value :: level
            character(kind=c_char), intent(in) :: name(*)
            integer(c_int) :: error
        end function pcontrol
    end interface

contains

    subroutine mpitx_phase_begin(name)
        character(len=*), intent(in) :: name
        integer(c_int) :: error
        error = pcontrol(phase_begin, trim(name)//c_null_char)
    end subroutine mpitx_phase_begin

    subroutine mpitx_phase_end()
        integer(c_int) :: error
        error = pcontrol(phase_end, c_null_char)
    end subroutine mpitx_phase_end
end module mpitx
