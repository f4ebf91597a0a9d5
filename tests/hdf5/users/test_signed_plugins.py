"""An HDF5 that loads only signed plugins loads the connector when a site has signed it, and not before."""

import shutil
import struct
import subprocess

import pytest
from conftest import REPOSITORY
from hdf5.carried import without
from tailrace.cli import run as run_command

HDF5 = REPOSITORY / ".deps/hdf5-signed"  # made by tools/hdf5_matrix.py
PROGRAM = REPOSITORY / "tests/hdf5/programs/constants.c"


def sign(plugin, key):
    """Signs as `h5sign` does, which the crate with HDF5's source lacks: appends a signature with SHA-512, and what it
    is."""
    signature = subprocess.run(["openssl", "dgst", "-sha512", "-sign", key, plugin], capture_output=True, check=True)
    with plugin.open("ab") as file:
        file.write(signature.stdout + struct.pack("<BI8sB", 3, len(signature.stdout), b"\x89HPS\r\n\x1a\n", 1))


@pytest.fixture
def run(tmp_path):
    """Compiles a program, and returns a function that runs it with the plugin in a directory."""
    if not (HDF5 / "lib/libhdf5.so").exists():
        pytest.skip(f"no .deps/{HDF5.name}: tools/hdf5_matrix.py makes it")
    program = tmp_path / "program"
    subprocess.run(["cc", PROGRAM, "-o", program, f"-I{HDF5}/include", f"-L{HDF5}/lib", "-lhdf5",
                    f"-Wl,-rpath,{HDF5}/lib"], check=True)

    def start(plugins):
        env = {**without(tmp_path), "HDF5_PLUGIN_PATH": str(plugins), "HDF5_VOL_CONNECTOR": "tailrace summary",
               "HDF5_PLUGIN_KEYSTORE": str(tmp_path / "trusted"),
               "LD_LIBRARY_PATH": str(run_command.PLUGINS.parent)}  # with the library that the plugin needs
        return subprocess.run([program, tmp_path], env=env, capture_output=True, text=True, timeout=600, check=False)
    return start


def make_key(path):
    subprocess.run(["openssl", "genrsa", "-out", path, "2048"], check=True, capture_output=True)
    return path


def test_the_connector_is_loaded_if_the_site_has_signed_it(run, tmp_path):
    (tmp_path / "trusted").mkdir()
    site, stranger = make_key(tmp_path / "site.pem"), make_key(tmp_path / "stranger.pem")
    subprocess.run(["openssl", "rsa", "-in", site, "-pubout", "-out", tmp_path / "trusted/site.pem"], check=True,
                   capture_output=True)
    for key, loads in (None, False), (stranger, False), (site, True):
        plugins = tmp_path / f"of {key and key.stem}"
        shutil.copytree(run_command.PLUGINS, plugins)
        if key:
            sign(plugins / "libtailrace_hdf5.so", key)
        done = run(plugins)
        assert ("tailrace: 2 writes of HDF5 data" in done.stderr) == loads, done.stderr
