from spack_repo.builtin.packages.py_shtab.package import PyShtab as OlderPyShtab

from spack.package import *


class PyShtab(OlderPyShtab):
    """Writes shell completion for Python programs. Spack's own package has older versions."""

    homepage = "https://github.com/tqdm/shtab"

    version("1.13.0", sha256="0a5be9d7ab2b4549e9a38252abcd5ecf5ec6813ecd80c6b06fa851bff55a5085")

    depends_on("python@3.9:", type=("build", "run"), when="@1.13:")
    depends_on("py-setuptools@77:", type="build", when="@1.13:")
