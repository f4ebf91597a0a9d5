! damaris: the functions of Damaris that return addresses. All others are called without an interface, as they take
! arrays of any type.
module damaris
  use, intrinsic :: iso_c_binding, only: c_ptr
  implicit none
  private
  public :: damaris_alloc_f, damaris_alloc_block_f

  interface
    function damaris_alloc_f(varname, ierr) result(memory)
      import :: c_ptr
      character(len=*) :: varname
      integer :: ierr
      type(c_ptr) :: memory
    end function damaris_alloc_f

    function damaris_alloc_block_f(varname, block, ierr) result(memory)
      import :: c_ptr
      character(len=*) :: varname
      integer :: block, ierr
      type(c_ptr) :: memory
    end function damaris_alloc_block_f
  end interface
end module damaris
