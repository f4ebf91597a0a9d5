# What `cmake --install BUILD --component library` installs beside libtailrace, its headers and programs: the Fortran
# module, the connector for HDF5, the libraries for MPI-IO, and how other builds find all of it. The installation can
# be moved: everything in it is found relative to where it is.
include(CMakePackageConfigHelpers)

install(TARGETS tailrace EXPORT tailraceTargets LIBRARY DESTINATION lib COMPONENT library)
set(tailrace_fortran_compiler "")
if(TARGET tailrace_fortran)
  set(tailrace_fortran_compiler "${CMAKE_Fortran_COMPILER_ID} ${CMAKE_Fortran_COMPILER_VERSION}")
  install(TARGETS tailrace_fortran EXPORT tailraceTargets ARCHIVE DESTINATION lib COMPONENT library)
  install(DIRECTORY ${PROJECT_BINARY_DIR}/bindings/fortran/include/ DESTINATION include/tailrace/fortran
          COMPONENT library FILES_MATCHING PATTERN "*.mod")
endif()
# For compilers that cannot read this one's modules.
install(FILES bindings/fortran/c_interface.f90 bindings/fortran/tailrace.f90 bindings/fortran/descriptors.c
              bindings/fortran/tailrace_mpi.f90 bindings/fortran/mpi_calls.c
        DESTINATION share/tailrace/fortran COMPONENT library)
install(TARGETS tailrace_hdf5 LIBRARY DESTINATION lib/hdf5/plugin COMPONENT library)
install(TARGETS tailrace_hdf5_names LIBRARY DESTINATION lib/tailrace COMPONENT library)
foreach(mpi IN LISTS TAILRACE_MPIS)
  if(TARGET tailrace_mpiio_${mpi})
    install(TARGETS tailrace_mpiio_${mpi} LIBRARY DESTINATION lib/tailrace COMPONENT library)
  endif()
endforeach()
foreach(mpi IN LISTS TAILRACE_MPIS)
  if(TARGET tailrace_damaris_${mpi})
    install(TARGETS tailrace_damaris_${mpi} LIBRARY DESTINATION lib/tailrace/damaris/${mpi} COMPONENT library)
  endif()
endforeach()
if(TARGET tailrace-damaris)
  install(TARGETS tailrace-damaris RUNTIME DESTINATION bin COMPONENT library)
  install(FILES bindings/damaris/include/Damaris.h bindings/damaris/include/damaris.f90
          DESTINATION include/tailrace/damaris COMPONENT library)
endif()
if(TARGET tailrace-cube)
  install(TARGETS tailrace-cube RUNTIME DESTINATION bin COMPONENT library)
endif()
if(TARGET tailrace_foam)
  install(TARGETS tailrace_foam tailrace_foam_preload LIBRARY DESTINATION lib/tailrace COMPONENT library)
endif()
if(TAILRACE_COMMAND)
  # A link to tailrace-core (src/programs).
  install(PROGRAMS ${PROJECT_BINARY_DIR}/src/api/tailrace DESTINATION bin COMPONENT library)
endif()
configure_file(tools/tailrace-run ${PROJECT_BINARY_DIR}/tailrace-run @ONLY)
install(PROGRAMS ${PROJECT_BINARY_DIR}/tailrace-run DESTINATION bin COMPONENT library)
install(FILES man/tailrace.1 man/tailrace-run.1 man/tailrace-core.1 man/tailrace-forward.1 DESTINATION share/man/man1
        COMPONENT library)

set(tailrace_plugin_folder lib/hdf5/plugin)
set(tailrace_fortran_folder share/tailrace/fortran)
install(EXPORT tailraceTargets NAMESPACE tailrace:: DESTINATION lib/cmake/tailrace COMPONENT library)
configure_package_config_file(cmake/tailraceConfig.cmake.in ${PROJECT_BINARY_DIR}/tailraceConfig.cmake
                              INSTALL_DESTINATION lib/cmake/tailrace)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/tailraceConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/tailraceConfig.cmake ${PROJECT_BINARY_DIR}/tailraceConfigVersion.cmake
        DESTINATION lib/cmake/tailrace COMPONENT library)
configure_file(cmake/tailrace.pc.in ${PROJECT_BINARY_DIR}/tailrace.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/tailrace.pc DESTINATION lib/pkgconfig COMPONENT library)
