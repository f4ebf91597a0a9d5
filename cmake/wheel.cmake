# A wheel has beside the extension: headers and CMake's files for C, C++ and Fortran, in the folder that
# `tailrace --cmake-dir` prints, and the program of `tailrace demo`. That of tailrace_lab (lab/pyproject.toml) has the
# test-bed's, for `tailrace bench pattern` and `predict --measure`.
include(CMakePackageConfigHelpers)

# The extension, the programs of place core, and what else is installed: not the whole tree.
add_custom_target(tailrace_package)
add_dependencies(tailrace_package tailrace_python tailrace-core tailrace-forward tailrace-plugin-host tailrace_hdf5
                                  tailrace_mpiio tailrace_openfoam tsunami)
if(TAILRACE_CUBE)
  add_dependencies(tailrace_package tailrace-cube tailrace_cube_python)
endif()
if(TAILRACE_DAMARIS)
  add_dependencies(tailrace_package tailrace-damaris tailrace_damaris)
endif()

install(TARGETS tsunami RUNTIME DESTINATION tailrace COMPONENT python)
set_target_properties(tsunami PROPERTIES INSTALL_RPATH "$ORIGIN")
install(TARGETS pattern RUNTIME DESTINATION tailrace_lab COMPONENT lab)
set_target_properties(pattern PROPERTIES INSTALL_RPATH "$ORIGIN/../tailrace")

install(DIRECTORY include/tailrace DESTINATION tailrace/include COMPONENT python)
install(FILES bindings/fortran/c_interface.f90 bindings/fortran/tailrace.f90 bindings/fortran/descriptors.c
              bindings/fortran/tailrace_mpi.f90 bindings/fortran/mpi_calls.c
        DESTINATION tailrace/fortran COMPONENT python)

# The sources of doors that belong to one MPI or OpenFOAM, for `tailrace doors build`.
install(DIRECTORY bindings/mpiio bindings/process_client bindings/openfoam DESTINATION tailrace/doors/bindings
        COMPONENT python FILES_MATCHING REGEX "[.](cpp|hpp|def|map)$|define_calls.py$")
install(DIRECTORY src/collective DESTINATION tailrace/doors COMPONENT python FILES_MATCHING REGEX "[.](cpp|hpp)$")

set(tailrace_plugin_folder tailrace/hdf5_plugin)
set(tailrace_fortran_folder tailrace/fortran)
set(tailrace_fortran_compiler "")
configure_package_config_file(cmake/tailraceConfig.cmake.in ${PROJECT_BINARY_DIR}/tailraceConfig.cmake
                              INSTALL_DESTINATION tailrace/cmake)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/tailraceConfigVersion.cmake COMPATIBILITY SameMinorVersion)
set(tailrace_soname libtailrace.so.0)
configure_file(cmake/wheelTargets.cmake.in ${PROJECT_BINARY_DIR}/tailraceTargets.cmake @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/tailraceConfig.cmake ${PROJECT_BINARY_DIR}/tailraceConfigVersion.cmake
              ${PROJECT_BINARY_DIR}/tailraceTargets.cmake
        DESTINATION tailrace/cmake COMPONENT python)

# _tailrace_licenses(COMPONENT PACKAGE …): installs the licenses of what a wheel contains: of the libraries that were
# built for it (tools/portable/libraries.sh), else of Debian's packages where the build's system has them; and that of
# HDF5.
function(_tailrace_licenses component)
  set(built ${TAILRACE_DEPS}/libraries/licenses)
  if(IS_DIRECTORY ${built})
    install(DIRECTORY ${built}/ DESTINATION ${SKBUILD_METADATA_DIR}/licenses COMPONENT ${component})
    set(ARGN "")
  endif()
  foreach(package IN LISTS ARGN)
    if(EXISTS /usr/share/doc/${package}/copyright)
      install(FILES /usr/share/doc/${package}/copyright DESTINATION ${SKBUILD_METADATA_DIR}/licenses/${package}
              COMPONENT ${component})
    endif()
  endforeach()
  if(EXISTS ${TAILRACE_DEPS}/hdf5/share/COPYING)
    install(FILES ${TAILRACE_DEPS}/hdf5/share/COPYING DESTINATION ${SKBUILD_METADATA_DIR}/licenses/hdf5
            COMPONENT ${component})
  endif()
endfunction()

if(SKBUILD_METADATA_DIR)
  _tailrace_licenses(python libarchive-dev libaec-dev libblosc1 libbz2-dev libcli11-dev libdeflate-dev libfmt-dev
                     liblz4-1 liblzf1 liblzma-dev libpcre2-dev libpugixml-dev libsnappy1v5 libsodium-dev
                     libspdlog-dev libssl3 liburing-dev libyaml-cpp-dev libzstd-dev nlohmann-json3-dev zlib1g-dev)
  _tailrace_licenses(lab libcli11-dev nlohmann-json3-dev)
  install(FILES LICENSE DESTINATION ${SKBUILD_METADATA_DIR}/licenses COMPONENT lab)
endif()
