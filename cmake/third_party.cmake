# An sdist has the sources of third-party libraries and of HDF5 in third_party/ (tools/sdist.sh): it is built with
# those and needs no library of the system. In a checkout there are none. TAILRACE_THIRD_PARTY=OFF builds HDF5 alone
# from there, for package managers, which have the other libraries.
set(TAILRACE_DEPS ${PROJECT_SOURCE_DIR}/.deps CACHE PATH "Where dependencies built from source are kept")
set(third_party ${PROJECT_SOURCE_DIR}/third_party)
if(EXISTS ${third_party} AND NOT DEFINED ENV{TAILRACE_HDF5_SOURCE})
  set(ENV{TAILRACE_HDF5_SOURCE} ${third_party}/hdf5.tar.xz)
endif()
if(NOT TAILRACE_THIRD_PARTY OR NOT EXISTS ${third_party})
  return()
endif()
execute_process(COMMAND ${PROJECT_SOURCE_DIR}/tools/portable/libraries.sh ${third_party} ${TAILRACE_DEPS}/libraries
                COMMAND_ERROR_IS_FATAL ANY)
link_directories(${TAILRACE_DEPS}/libraries/lib)
list(PREPEND CMAKE_PREFIX_PATH ${TAILRACE_DEPS}/libraries)
set(ENV{PKG_CONFIG_PATH} "${TAILRACE_DEPS}/libraries/lib/pkgconfig:$ENV{PKG_CONFIG_PATH}")
