module shapes
  implicit none
  type :: shape
    real :: size = 1.0
  contains
    procedure :: area
  end type
contains
  real function area(self)
    class(shape), intent(in) :: self
    area = self%size * self%size
  end function
  recursive integer function fib(n) result(r)
    integer, intent(in) :: n
    if (n < 2) then
      r = n
    else
      r = fib(n - 1) + fib(n - 2)
    end if
  end function
end module
subroutine outside(x)
  real, intent(inout) :: x
  x = x + 3
contains
  subroutine within
    x = x * 2
  end subroutine
end subroutine
program own
  use shapes
  implicit none
  type(shape) :: s
  real :: y = 1
  call outside(y)
  print *, s%area(), fib(10), y
end program
