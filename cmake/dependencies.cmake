# Third-party libraries, each used by the one folder that adapts it (docs/decisions/006). All are Debian packages, but
# for HDF5, which is built once from source into TAILRACE_DEPS.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(ZLIB REQUIRED)
pkg_check_modules(liburing REQUIRED IMPORTED_TARGET liburing)
pkg_check_modules(libzstd REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(libdeflate REQUIRED IMPORTED_TARGET libdeflate)
pkg_check_modules(liblzf REQUIRED IMPORTED_TARGET liblzf)
pkg_check_modules(blosc REQUIRED IMPORTED_TARGET blosc)
find_library(TAILRACE_SZLIB sz REQUIRED) # of libaec, which Debian 12 has without a .pc

set(TAILRACE_DEPS ${PROJECT_SOURCE_DIR}/.deps CACHE PATH "Where dependencies built from source are kept")
execute_process(COMMAND ${PROJECT_SOURCE_DIR}/tools/build_hdf5.sh ${TAILRACE_DEPS}/hdf5 COMMAND_ERROR_IS_FATAL ANY)
find_package(HDF5 REQUIRED CONFIG NO_DEFAULT_PATH PATHS ${TAILRACE_DEPS}/hdf5/cmake
             COMPONENTS C static)
# How HDF5 was compiled is not how we are.
set_target_properties(hdf5-static PROPERTIES INTERFACE_COMPILE_DEFINITIONS "")
