#!/usr/bin/env python3
"""Checks the programs and libraries of a wheel: that they need no later C library than the wheel's tag says, no other
library than every system has, or the MPI that they are for, and that they show their own names only.

    check_wheel.py WHEEL

It prints a line for each file. The wheel may have at most 15 MB, and has the licences of what it contains.
"""

import fnmatch
import io
import os
import re
import sys
import zipfile

from elftools.common.exceptions import ELFError
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from elftools.elf.gnuversions import GNUVerNeedSection

# The C library, and GCC's, which unwinds exceptions (PEP 600).
SYSTEM = ("libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "libgcc_s.so.1", "ld-linux*.so.*",
          "libtailrace.so.0")
# The latest versions of libgcc_s of a system with that C library (GCC 8).
GCC = (8, 0)
MOST_BYTES = 15_000_000
# Libraries whose licences a wheel of tailrace has, since it contains their code.
LICENCES = ("blosc", "bzip2", "cli11", "fmt", "hdf5", "libaec", "libarchive", "libdeflate", "libsodium", "liburing",
            "lz4", "lzf", "nlohmann-json", "openssl", "pcre2", "pugixml", "snappy", "spdlog", "xz", "yaml-cpp",
            "zlib", "zstd")
# By the file's name: what else it may need, and the names that it shows.
FILES = {
    "libtailrace.so.0": ((), ("tailrace_*", "TAILRACE_*")),
    "libtailrace_hdf5.so": ((), ("H5PLget_plugin_*",)),
    "libtailrace_hdf5_names.so": ((), ("*",)),  # those of the C library that it stands in front of
    "libtailrace_mpiio_*.so": ((), ("MPI_*", "mpi_*", "PMPI_*", "tailrace_*")),
    "libtailrace_tcp.so": ((), ("tailrace_transport_module",)),
    "libtailrace_ucx.so": (("libuc[mpst].so.0",), ("tailrace_transport_module",)),
    "libtailrace_python_host.so": ((), ("tailrace_python_*",)),
    "libdamaris.so": (("libmpi.so.40", "libmpich.so.12"), ("damaris_*",)),
    "_*.so": ((), ("PyInit_*",)),
    "*": ((), ("stdout", "stderr")),  # programs, which have copies of these
}


def rule_of(name):
    """Returns what a file may need, and the names that it may show."""
    return next(rule for pattern, rule in FILES.items() if fnmatch.fnmatchcase(name, pattern))


def is_one_of(name, patterns):
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


def versions(elf):
    """Returns (library, version) of all versioned names that a file needs."""
    for section in elf.iter_sections():
        if isinstance(section, GNUVerNeedSection):
            for library, needed in section.iter_versions():
                for one in needed:
                    yield library.name, one.name


def too_new(version, limit):
    """Returns true if GLIBC_2.34 or GCC_7.0.0 is later than it may be, or a version of another library."""
    match = re.fullmatch(r"(GLIBC|GCC)_(\d+)\.(\d+)(?:\.\d+)*", version)
    if match is None:
        return not version.startswith("TAILRACE_")
    return (int(match[2]), int(match[3])) > (limit if match[1] == "GLIBC" else GCC)


def check(name, elf, limit):
    """Returns the complaints on a file."""
    base = name.rpartition("/")[2]
    needs, shows = rule_of(base)
    complaints = [f"needs {version} of {library}" for library, version in versions(elf) if too_new(version, limit)]
    for section in elf.iter_sections():
        if isinstance(section, DynamicSection):
            complaints += [f"needs {tag.needed}" for tag in section.iter_tags("DT_NEEDED")
                           if not is_one_of(tag.needed, (*SYSTEM, *needs))]
    symbols = elf.get_section_by_name(".dynsym")
    for symbol in symbols.iter_symbols() if symbols else ():
        seen = symbol["st_shndx"] != "SHN_UNDEF" and symbol["st_info"]["bind"] != "STB_LOCAL"
        if seen and not is_one_of(symbol.name, shows):
            complaints.append(f"shows {symbol.name}")
    return complaints


def missing_licences(names):
    """Returns the libraries without a licence among the files of a wheel."""
    folders = {name.split("/")[-2] for name in names if "/licenses/" in name and "README" not in name}
    return [library for library in LICENCES if library not in folders]


def main():
    wheel = sys.argv[1]
    tag = re.search(r"manylinux_(\d+)_(\d+)", wheel)
    if tag is None:
        print(f"{wheel}: found no manylinux_… in its name")
        return 1
    limit = int(tag[1]), int(tag[2])
    files = failed = 0
    with zipfile.ZipFile(wheel) as archive:
        for name in sorted(archive.namelist()):
            try:
                elf = ELFFile(io.BytesIO(archive.read(name)))
            except ELFError:
                continue
            files += 1
            complaints = check(name, elf, limit)
            failed += bool(complaints)
            print(f"{name}: {'; '.join(complaints[:20]) or 'ok'}")
        missing = missing_licences(archive.namelist()) if "/tailrace-" in f"/{wheel}" else []
    if missing:
        print(f"found no licence of {', '.join(missing)}")
    size = os.path.getsize(wheel)
    print(f"{files} programs and libraries, {failed} of them wrong; {size / 1e6:.1f} MB")
    return 1 if failed or missing or files == 0 or size > MOST_BYTES else 0


if __name__ == "__main__":
    sys.exit(main())
