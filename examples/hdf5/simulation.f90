! A simulation that writes its field after each step, by plain HDF5: it knows nothing of tailrace.
!
!   h5fc simulation.f90 -o simulation && tailrace run -- ./simulation field.h5
program simulation
  use, intrinsic :: iso_fortran_env, only: real64
  use hdf5
  implicit none
  integer, parameter :: nx = 32, ny = 128, nz = 128, steps = 4
  real(real64), allocatable :: temperature(:, :, :)
  character(len=256) :: name
  integer(hid_t) :: file
  integer :: step, error

  allocate (temperature(nz, ny, nx))
  name = "field.h5"
  if (command_argument_count() > 0) call get_command_argument(1, name)
  call h5open_f(error)
  call h5fcreate_f(trim(name), H5F_ACC_TRUNC_F, file, error)
  call check(error)
  do step = 0, steps - 1
    call compute(step)
    call write_step(step)
    if (mod(step, 2) == 1) call h5fflush_f(file, H5F_SCOPE_GLOBAL_F, error)   ! safe now, whatever happens to us
    call check(error)
  end do
  call h5fclose_f(file, error)
  call check(error)
  call h5close_f(error)

contains

  subroutine compute(step)
    integer, intent(in) :: step
    integer :: i
    temperature = 1000 * step + reshape([(real(i, real64), i = 0, nx * ny * nz - 1)], shape(temperature))
  end subroutine

  subroutine write_step(step)
    integer, intent(in) :: step
    integer(hid_t) :: group, space, field
    integer(hsize_t) :: extent(3)
    character(len=32) :: group_name
    write (group_name, '("step", i0)') step
    extent = shape(temperature)
    call h5gcreate_f(file, trim(group_name), group, error)
    call check(error)
    call write_attribute(group, "time", 0.1_real64 * step)
    call h5screate_simple_f(3, extent, space, error)
    call h5dcreate_f(group, "temperature", H5T_NATIVE_DOUBLE, space, field, error)
    call check(error)
    call h5dwrite_f(field, H5T_NATIVE_DOUBLE, temperature, extent, error)
    call check(error)
    call h5dclose_f(field, error)
    call check(error)
    call h5sclose_f(space, error)
    call h5gclose_f(group, error)
  end subroutine

  subroutine write_attribute(object, name, value)
    integer(hid_t), intent(in) :: object
    character(len=*), intent(in) :: name
    real(real64), intent(in) :: value
    integer(hid_t) :: space, attribute
    integer(hsize_t) :: extent(1) = 1
    call h5screate_f(H5S_SCALAR_F, space, error)
    call h5acreate_f(object, name, H5T_NATIVE_DOUBLE, space, attribute, error)
    call check(error)
    call h5awrite_f(attribute, H5T_NATIVE_DOUBLE, value, extent, error)
    call check(error)
    call h5aclose_f(attribute, error)
    call h5sclose_f(space, error)
  end subroutine

  ! HDF5 has printed the reason when one of its calls failed.
  subroutine check(error)
    integer, intent(in) :: error
    if (error < 0) error stop 1
  end subroutine
end program
