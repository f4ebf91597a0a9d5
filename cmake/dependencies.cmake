# Third-party libraries; only the folder that adapts a library uses it (docs/decisions/006). All are Debian packages,
# except HDF5, which is built once from source into TAILRACE_DEPS.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(ZLIB REQUIRED)
pkg_check_modules(liburing REQUIRED IMPORTED_TARGET liburing)
pkg_check_modules(libsodium REQUIRED IMPORTED_TARGET libsodium)
pkg_check_modules(libgcrypt REQUIRED IMPORTED_TARGET libgcrypt)
pkg_check_modules(libzstd REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(libdeflate REQUIRED IMPORTED_TARGET libdeflate)
pkg_check_modules(liblzf REQUIRED IMPORTED_TARGET liblzf)
pkg_check_modules(blosc REQUIRED IMPORTED_TARGET blosc)
find_library(TAILRACE_SZLIB sz REQUIRED) # from libaec, which has no .pc file in Debian 12

set(TAILRACE_DEPS ${PROJECT_SOURCE_DIR}/.deps CACHE PATH "Where dependencies built from source are kept")
execute_process(COMMAND ${PROJECT_SOURCE_DIR}/tools/build_hdf5.sh ${TAILRACE_DEPS}/hdf5 COMMAND_ERROR_IS_FATAL ANY)
find_package(HDF5 REQUIRED CONFIG NO_DEFAULT_PATH PATHS ${TAILRACE_DEPS}/hdf5/cmake
             COMPONENTS C static)
# HDF5's compile definitions are not for code that uses it.
set_target_properties(hdf5-static PROPERTIES INTERFACE_COMPILE_DEFINITIONS "")
