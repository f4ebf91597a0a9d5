from spack_repo.builtin.build_systems.cmake import CMakePackage, generator
from spack_repo.builtin.build_systems.python import PythonExtension, PythonPipBuilder

from spack.package import *


class Tailrace(CMakePackage, PythonExtension):
    """Writes a simulation's output in the background: its loop never waits for the disk."""

    homepage = "https://example.org/tailrace"
    url = "https://example.org/tailrace/tailrace-0.1.0.tar.gz"

    license("BSD-3-Clause")
    maintainers("tailrace")

    # At a release: the archive's checksum.
    version("0.1.0", sha256="0000000000000000000000000000000000000000000000000000000000000000")

    variant("python", default=True, description="Install the Python package")
    variant("mpi", default=True, description="Build the libraries for MPI-IO and Damaris programs")
    variant("ucx", default=True, description="Forward over fabrics that UCX knows")
    variant("cube", default=True, description="Build tailrace-cube")
    variant("fortran", default=True, description="Build the Fortran module")

    generator("ninja")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("fortran", type="build", when="+fortran")
    depends_on("cmake@3.25:", type="build")
    depends_on("pkgconfig", type="build")
    # CMake looks for MPI with it; the server runs actions in Python with it.
    depends_on("python@3.10:", type=("build", "link", "run"))
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
    depends_on("pugixml")
    depends_on("mpi", when="+mpi")
    depends_on("ucx", when="+ucx")
    with when("+cube"):
        depends_on("libarchive")
        depends_on("pcre2")
    with when("+python"):
        extends("python")
        with default_args(type="build"):
            depends_on("py-pip")
            depends_on("py-nanobind@2.4:")
            depends_on("py-scikit-build-core@0.10:")
        with default_args(type=("build", "run")):
            depends_on("py-numpy")
            depends_on("py-h5py")
            depends_on("py-rich")
            depends_on("py-shtab@1.13:")

    def cmake_args(self):
        """Returns the arguments of CMake."""
        return [
            self.define("TAILRACE_TESTS", False),
            self.define("TAILRACE_UNITY", True),
            # The archive's HDF5 alone is built: libtailrace contains it, hidden from programs.
            self.define("TAILRACE_THIRD_PARTY", False),
            # The Python package has a file bin/tailrace, too.
            self.define("TAILRACE_COMMAND", self.spec.satisfies("~python")),
            self.define_from_variant("TAILRACE_MPIIO", "mpi"),
            self.define_from_variant("TAILRACE_UCX", "ucx"),
            self.define_from_variant("TAILRACE_CUBE", "cube"),
            self.define_from_variant("TAILRACE_FORTRAN", "fortran"),
        ]

    @run_after("install", when="+python")
    def install_python_package(self):
        """Installs the Python package beside the library, with what CMake has found for that."""
        given = [*self.cmake_args(), self.define("CMAKE_INSTALL_RPATH_USE_LINK_PATH", True)]
        args = [*PythonPipBuilder.std_args(self), f"--prefix={self.prefix}", "."]
        with working_dir(self.stage.source_path):
            pip(*args, extra_env={"CMAKE_ARGS": " ".join(given)})

    def setup_run_environment(self, env: EnvironmentModifications) -> None:
        """Lets HDF5 find the connector; HDF5_VOL_CONNECTOR chooses it."""
        env.prepend_path("HDF5_PLUGIN_PATH", self.prefix.lib.hdf5.plugin)

    @run_after("install")
    def keep_the_examples(self):
        """Keeps what `spack test run` needs."""
        cache_extra_test_sources(self, ["examples", join_path("packaging", "check.sh")])

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def check_install(self):
        """Runs the examples after the build: spack install --test=root."""
        self.check_in(self.stage.source_path)

    def test_examples(self):
        """build and run the examples with the installed library"""
        self.check_in(self.test_suite.current_test_cache_dir)

    def check_in(self, source):
        """Calls check.sh of the sources in this folder."""
        Executable(join_path(source, "packaging", "check.sh"))(self.prefix)

    def test_imports(self):
        """import the Python package"""
        if self.spec.satisfies("~python"):
            raise SkipTest("Python is not installed: ~python")
        python("-c", "import tailrace; print(tailrace.__version__)")
