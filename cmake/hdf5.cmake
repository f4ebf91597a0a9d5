# HDF5, which is built once from source into TAILRACE_DEPS, or an installed one: hdf5-static, which libtailrace
# contains and hides from the program's own HDF5.
set(TAILRACE_HDF5_SOURCE "$ENV{TAILRACE_HDF5_SOURCE}" CACHE PATH
    "HDF5's source, 1.14.4 or later: a directory or a .tar.gz (default: Cargo fetches it)")
set(TAILRACE_HDF5_ROOT "$ENV{TAILRACE_HDF5_ROOT}" CACHE PATH "The prefix of an installed static HDF5 to use instead")

# An installed HDF5 has to fit into a shared library, beside the program's own HDF5 and unseen by it.
function(_tailrace_check_hdf5)
  set(expected "expected a static, serial and position-independent HDF5 of version 1.14.4 or later, before 2.0")
  if(HDF5_VERSION VERSION_LESS 1.14.4 OR HDF5_VERSION VERSION_GREATER_EQUAL 2)
    message(FATAL_ERROR "TAILRACE_HDF5_ROOT: found HDF5 ${HDF5_VERSION} in ${TAILRACE_HDF5_ROOT}, ${expected}")
  endif()
  if(HDF5_ENABLE_PARALLEL OR HDF5_PROVIDES_PARALLEL)
    message(FATAL_ERROR "TAILRACE_HDF5_ROOT: found a parallel HDF5 in ${TAILRACE_HDF5_ROOT}, ${expected}")
  endif()
  set(folder ${PROJECT_BINARY_DIR}/hdf5_check)
  file(WRITE ${folder}/uses.c "#include <hdf5.h>\nint tailrace_uses(void) { return H5open(); }\n")
  file(WRITE ${folder}/CMakeLists.txt "cmake_minimum_required(VERSION 3.25)\nproject(check C)\n\
find_package(HDF5 REQUIRED CONFIG NO_DEFAULT_PATH PATHS \"${HDF5_DIR}\" COMPONENTS C static)\n\
add_library(check SHARED uses.c)\ntarget_link_libraries(check PRIVATE hdf5-static)\n\
target_link_options(check PRIVATE -Wl,--exclude-libs,ALL -Wl,--no-undefined)\n")
  try_compile(fits ${folder}/build ${folder} check check OUTPUT_VARIABLE why)
  if(NOT fits)
    message(FATAL_ERROR "TAILRACE_HDF5_ROOT: found in ${TAILRACE_HDF5_ROOT} an HDF5 that no shared library can "
                        "take in, ${expected}:\n${why}")
  endif()
endfunction()

# This copy reads no environment variables: those are for the program's HDF5 (HDF5_DRIVER, and HDF5_VOL_CONNECTOR, by
# which this one would load tailrace's connector).
function(_tailrace_hide_environment)
  set(copy ${PROJECT_BINARY_DIR}/hdf5_private/libhdf5.a)
  get_target_property(configurations hdf5-static IMPORTED_CONFIGURATIONS)
  list(GET configurations 0 configuration)
  get_target_property(archive hdf5-static IMPORTED_LOCATION_${configuration})
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/hdf5_private)
  execute_process(COMMAND ${CMAKE_OBJCOPY} --redefine-sym getenv=tailrace_hdf5_getenv ${archive} ${copy}
                  COMMAND_ERROR_IS_FATAL ANY)
  file(WRITE ${PROJECT_BINARY_DIR}/hdf5_private/getenv.c
       "char *tailrace_hdf5_getenv(const char *name);\n\
char *tailrace_hdf5_getenv(const char *name) { (void)name; return (char *)0; }\n")
  add_library(tailrace_hdf5_getenv STATIC ${PROJECT_BINARY_DIR}/hdf5_private/getenv.c)
  set_target_properties(hdf5-static PROPERTIES IMPORTED_LOCATION_${configuration} ${copy})
  set_property(TARGET hdf5-static APPEND PROPERTY INTERFACE_LINK_LIBRARIES tailrace_hdf5_getenv)
endfunction()

if(TAILRACE_HDF5_ROOT)
  find_package(HDF5 CONFIG NO_DEFAULT_PATH PATHS ${TAILRACE_HDF5_ROOT} PATH_SUFFIXES cmake lib/cmake/hdf5
               lib64/cmake/hdf5 share/cmake/hdf5 COMPONENTS C static)
  if(NOT TARGET hdf5-static)
    message(FATAL_ERROR "TAILRACE_HDF5_ROOT: found no static HDF5 with CMake's files in ${TAILRACE_HDF5_ROOT}; "
                        "expected one, or no TAILRACE_HDF5_ROOT: HDF5 is then built from source")
  endif()
  _tailrace_check_hdf5()
  _tailrace_hide_environment()
  set(TAILRACE_HDF5_IS "${HDF5_VERSION}, installed in ${TAILRACE_HDF5_ROOT}")
else()
  execute_process(COMMAND ${CMAKE_COMMAND} -E env TAILRACE_HDF5_SOURCE=${TAILRACE_HDF5_SOURCE}
                          ${PROJECT_SOURCE_DIR}/tools/build_hdf5.sh ${TAILRACE_DEPS}/hdf5 COMMAND_ERROR_IS_FATAL ANY)
  find_package(HDF5 REQUIRED CONFIG NO_DEFAULT_PATH PATHS ${TAILRACE_DEPS}/hdf5/cmake COMPONENTS C static)
  set(TAILRACE_HDF5_IS "${HDF5_VERSION}, built from source in ${TAILRACE_DEPS}/hdf5")
endif()
# HDF5's compile definitions are not for code that uses it.
set_target_properties(hdf5-static PROPERTIES INTERFACE_COMPILE_DEFINITIONS "")
