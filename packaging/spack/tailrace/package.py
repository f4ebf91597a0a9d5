"""A recipe for Spack: copy the folder into the packages of a repository of yours, and see README.md beside it."""

from spack_repo.builtin.build_systems.cmake import CMakePackage

from spack.package import depends_on, license, maintainers, variant, version


class Tailrace(CMakePackage):
    """Carries a program's output off its critical path, into openPMD/HDF5 files."""

    homepage = "https://example.org/tailrace"
    url = "https://example.org/tailrace/tailrace-0.1.0.tar.gz"

    license("BSD-3-Clause")
    maintainers("tailrace")

    # At a release: the archive's checksum.
    version("0.1.0", sha256="0000000000000000000000000000000000000000000000000000000000000000")

    variant("mpi", default=True, description="Build the library for programs that write by MPI-IO")
    variant("ucx", default=True, description="Forward between nodes")
    variant("cube", default=True, description="Build tailrace-cube")
    variant("fortran", default=True, description="Build the Fortran module")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("fortran", type="build", when="+fortran")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    # libtailrace contains this one: it is no dependency of programs, which may have another HDF5.
    depends_on("hdf5@1.14.4:1.14 ~shared ~mpi ~cxx ~fortran ~hl cflags=-fPIC", type="build")
    depends_on("liburing")
    depends_on("libsodium")
    depends_on("openssl@3:")
    depends_on("yaml-cpp")
    depends_on("fmt")
    depends_on("spdlog +shared")
    depends_on("cli11")
    depends_on("nlohmann-json")
    depends_on("zlib-api")
    depends_on("zstd")
    depends_on("libdeflate")
    depends_on("c-blosc")
    depends_on("libaec")
    depends_on("mpi", when="+mpi")
    depends_on("python@3.10:", type="build")
    depends_on("ucx", when="+ucx")
    depends_on("libarchive", when="+cube")
    depends_on("pugixml", when="+cube")
    depends_on("pcre2", when="+cube")

    def cmake_args(self):
        """Returns the arguments of CMake."""
        return [
            self.define("TAILRACE_TESTS", False),
            self.define("TAILRACE_HDF5_ROOT", self.spec["hdf5"].prefix),
            self.define_from_variant("TAILRACE_MPIIO", "mpi"),
            self.define_from_variant("TAILRACE_UCX", "ucx"),
            self.define_from_variant("TAILRACE_CUBE", "cube"),
            self.define_from_variant("TAILRACE_FORTRAN", "fortran"),
        ]

    def setup_run_environment(self, env):
        """Lets HDF5 find the connector; HDF5_VOL_CONNECTOR chooses it."""
        env.prepend_path("HDF5_PLUGIN_PATH", self.prefix.lib.hdf5.plugin)
