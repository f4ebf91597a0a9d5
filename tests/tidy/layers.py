#!/usr/bin/env python3
"""The layer law (docs/ARCHITECTURE.md): which folder may include which. Run as a script, it checks the repository.

A file may include its own folder, lower layers, and the headers of its parent folder (a port). Folders of one layer
never include each other. Only the composition root (runtime) names concrete classes. Third-party headers stay in the
folder that adapts them. Public headers include no private one, and code outside src uses only public ones, with one
exception: doors may include filter/codecs, collective and base/names.
"""

import posixpath
import re
import sys

import sources

# The layers of src's folders, the lowest first.
LAYERS = [
    {"base", "collective", "collective/buffer", "collective/read", "collective/tune",
     "collective/write", "filter/codecs"},
    {"base/names", "base/net", "base/sync", "base/os"},
    {"base/memory", "base/signals"},
    {"model", "transport"},
    {"model/config", "model/wire", "transport/key", "transport/link", "transport/loader"},
    {"transport/simulated", "transport/tcp", "transport/ucx"},
    {"config/yaml"},
    {"config", "storage"},
    {"storage/os", "storage/remote/forwarders"},
    {"storage/posix", "storage/uring", "storage/memory", "storage/remote"},
    {"storage/rooted", "storage/striped", "storage/threads"},
    {"engine", "engine/queue", "engine/schedule", "engine/merge", "engine/execute", "filter"},
    {"format/metadata", "format/openpmd", "format/xdmf"},
    {"format/plan"},
    {"channel", "format/image"},
    {"format", "format/hdf5", "forward", "place", "place/thread", "place/core", "action", "action/host"},
    {"client", "publish", "recovery", "format/outline"},
    {"server/filtering", "server/raw_files"},
    {"server/verbs"},
    {"server"},
    {"runtime/parts"},
    {"runtime/forward", "runtime/outline", "runtime/output", "runtime/measurements"},
    {"runtime/core"},
    {"runtime"},
    {"api", "command/output"},
    {"command/inspect"},
    {"command"},
    {"programs"},
]
LAYER = {folder: layer for layer, folders in enumerate(LAYERS) for folder in folders}

# Folders of concrete classes: only the composition root includes them, and they include one another.
CONCRETE = {
    "storage/os",
    "storage/posix",
    "storage/uring",
    "storage/memory",
    "storage/remote",
    "storage/rooted",
    "storage/striped",
    "storage/threads",
    "transport/simulated",
    "transport/tcp",
    "transport/ucx",
    "transport/loader",
    "place/thread",
    "place/core",
    "format/hdf5",
    "format/image",
    "format/outline",
}
COMPOSITION_ROOT = "runtime"

# Here, unlike elsewhere, parents include children: engine/ combines its four stages, filter/ its codecs.
COMPOSED_OF_CHILDREN = {"command", "storage/remote", "config", "engine", "filter", "server", "runtime"}

# Lower layers that a folder must not know all the same.
MUST_NOT_KNOW = {"place": {"engine", "storage"}, "channel": {"engine", "storage"}}

# Third-party headers → where they may be included. A folder stands for all below it.
THIRD_PARTY = [
    (r"fmt/", ["."]),
    (r"yaml-cpp/", ["src/config/yaml", "tests"]),
    (r"nlohmann/", ["src/runtime", "src/command", "lab", "tests"]),
    (r"spdlog/", ["src/base"]),
    (r"liburing", ["src/storage/uring", "tests"]),
    (r"sodium", ["src/transport/key"]),
    (r"openssl/", ["src/transport/tcp", "lab/forward"]),
    (r"uc[ps]/", ["src/transport/ucx"]),
    (r"(zstd|libdeflate)\.h$", ["src/filter/codecs", "lab", "tests"]),
    (r"zlib\.h$", ["apps", "tests", "bindings/openfoam/output"]),
    (r"archive(_entry)?\.h$", ["apps/cube/archive"]),
    (r"pugixml\.hpp$", ["apps/cube/profile", "bindings/damaris/xml"]),
    (r"pcre2\.h$", ["apps/cube/cubepl"]),
    (r"(blosc|lzf|szlib)\.h$", ["bindings/hdf5_vol/filters"]),
    (r"(hdf5|H5\w*)\.h$", ["src/format/hdf5", "src/format/image", "src/format/openpmd", "src/format/outline",
                            "bindings/hdf5_vol", "examples/hdf5", "apps", "lab", "tests", "testing"]),
    (r"nanobind/", ["bindings/python", "apps/cube/python"]),
    (r"Python\.h$", ["bindings/python", "src/action/host"]),
    (r"CLI/", ["apps", "lab", "bindings/damaris/tool", "src/command", "src/programs",
                "testing/hostile_network"]),
    (r"gtest/|gmock/", ["tests", "testing"]),
    (r"benchmark/", ["lab"]),
]

# Headers with a folder that come with the compiler, the C library or the kernel.
SYSTEM_FOLDER = re.compile(r"(sys|linux|net|netinet|arpa|bits|asm|sanitizer)/")

USERS = ("bindings/", "apps/", "lab/", "examples/")  # may use public headers only
INSIDE = "lab/inside/"  # but for this one, whose studies are of src itself

# The folders of doors for unchanged programs, the lowest first, by their paths below bindings/: each may include its
# own, those of its door before it, and process_client.
DOORS = [
    "process_client/bytes",
    "process_client",
    "hdf5_vol/policy",
    "hdf5_vol/filters",
    "hdf5_vol/names",
    "hdf5_vol/host",
    "hdf5_vol/process",
    "hdf5_vol/files",
    "hdf5_vol/data",
    "hdf5_vol/callbacks",
    "hdf5_vol",
    "mpiio/types",
    "mpiio/mpi",
    "mpiio/collective",
    "mpiio/process",
    "mpiio/pending",
    "mpiio/transfer",
    "mpiio/buffer",
    "mpiio/files",
    "mpiio/calls",
    "openfoam/output",
    "openfoam/preload",
    "openfoam/handler",
    "damaris/include",
    "damaris/xml",
    "damaris/output",
    "damaris/ranks",
    "damaris/run",
    "damaris/api",
    "damaris/tool",
]

# The folders of an application that has several, as for doors, by their paths below apps/.
APPS = [
    "cube/archive",
    "cube/profile",
    "cube/cubepl",
    "cube/remap",
    "cube/tool",
    "cube/python",
]

# Folders of src that doors may include; all others are private. They work on bytes that they are given, without state
# of the library, so a door can have its own copy.
OPEN_TO_DOORS = {
    "base/names",
    "collective",
    "collective/buffer",
    "collective/read",
    "collective/tune",
    "collective/write",
    "filter/codecs",
}

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)


def folder_of(path):
    return posixpath.dirname(path)


def is_within(path, folder):
    return folder == "." or path == folder or path.startswith(folder + "/")


def check_third_party(path, header):
    """Checks the include of a header that is not the project's."""
    for pattern, folders in THIRD_PARTY:
        if re.match(pattern, header):
            if any(is_within(path, folder) for folder in folders):
                return None
            return f"<{header}> may be included in {', '.join(folders)} only"
    if "/" in header and not SYSTEM_FOLDER.match(header):
        return f"<{header}> is a third-party header that the table in tests/tidy/layers.py does not have"
    return None


def check_between_folders(source, target):
    """Checks a file in src/<source> that includes a header of src/<target>; returns what is wrong, or None."""
    for folder in (source, target):
        if folder not in LAYER:
            return f"src/{folder} has no layer in tests/tidy/layers.py"
    if source == target:
        return None
    if is_within(target, source):
        if source in COMPOSED_OF_CHILDREN:
            return None
        return f"src/{source} must not include its own back end src/{target}"
    if is_within(source, target):
        if target not in COMPOSED_OF_CHILDREN:
            return None
        return f"src/{source} must not include src/{target}, which is composed of it"
    if target in CONCRETE and source not in CONCRETE and not is_within(source, COMPOSITION_ROOT):
        return f"src/{target} is concrete: only src/{COMPOSITION_ROOT} may include it"
    for folder, unknown in MUST_NOT_KNOW.items():
        if is_within(source, folder) and any(is_within(target, one) for one in unknown):
            return f"src/{folder} must not know src/{target}"
    if LAYER[target] > LAYER[source]:
        return f"src/{target} (layer {LAYER[target]}) is above src/{source} (layer {LAYER[source]})"
    if LAYER[target] == LAYER[source]:
        return f"src/{target} is of the same layer as src/{source}"
    return None


def check_source(path, quote, header, exists):
    """Checks an include of a file in src."""
    if is_within(header, "testing") or is_within(header, "tests"):
        return f'src must not include "{header}"'
    if is_within(header, "tailrace") or (quote == "<" and not exists("src/" + header)):
        return None if is_within(header, "tailrace") else check_third_party(path, header)
    if not exists("src/" + header):
        return f'"{header}" is not a path from src (write "folder/file.hpp")'
    return check_between_folders(folder_of(path)[len("src/"):], folder_of(header))


def check_include(path, quote, header, exists):
    """Returns what is wrong with the line #include <header> or "header" in the file `path`; None if nothing is.

    `exists` tells whether a path of the repository exists.
    """
    if is_within(path, "include"):
        if is_within(header, "tailrace"):
            return None
        if quote == '"' or exists("src/" + header):
            return f'a public header must not include the private "{header}"'
        return check_third_party(path, header) or (
            f"a public header must not include the third-party <{header}>"
            if any(re.match(pattern, header) for pattern, _ in THIRD_PARTY) else None)
    if is_within(path, "src"):
        return check_source(path, quote, header, exists)
    for top, folders in (("bindings/", DOORS), ("apps/", APPS)):
        if path.startswith(top) and folder_of(path)[len(top):] in folders:
            if exists(top + header):
                return check_ordered(top, folders, folder_of(path)[len(top):], folder_of(header))
            if folders is DOORS and folder_of(header) in OPEN_TO_DOORS and exists("src/" + header):
                return None
    if path.startswith(USERS) and not path.startswith(INSIDE):
        # Its own folder, or the project in apps/ or bindings/, or lab/, which is one: relative to the file, the
        # project or the repository.
        top = "lab" if is_within(path, "lab") else "/".join(folder_of(path).split("/")[:2])
        seen = [posixpath.normpath(posixpath.join(start, header)) for start in (folder_of(path), top, "")]
        if is_within(header, "tailrace") or any(
                is_within(own, top) and exists(own) and not own.startswith(INSIDE) for own in seen):
            return None
        if quote == '"' or exists("src/" + header) or exists(header):
            return f'"{header}" is private: what is outside src may include tailrace/ and its own folder only'
        return check_third_party(path, header)
    if quote == "<" and not exists("src/" + header) and not is_within(header, "tailrace"):
        return check_third_party(path, header)
    return None  # tests/, testing/ and lab/inside/ may include everything


def check_ordered(top, folders, source, target):
    """Checks an include between folders of bindings/ or apps/; returns None if it is allowed."""
    if source == target:
        return None
    if target not in folders:
        return f"{top}{target} has no place among those of {top} in tests/tidy/layers.py"
    if folders.index(target) > folders.index(source):
        return f"{top}{target} is above {top}{source}"
    if target.split("/")[0] not in ("process_client", source.split("/")[0]):
        return f"{top}{target} is of another door"
    return None


def check_file(path, text, exists):
    complaints = []
    for match in INCLUDE.finditer(text):
        complaint = check_include(path, match.group(1), match.group(2), exists)
        if complaint:
            line = text.count("\n", 0, match.start()) + 1
            complaints.append(f"{path}:{line}: {complaint}")
    return complaints


def main():
    complaints = []
    for path in sources.cpp_files():
        text = (sources.ROOT / path).read_text(encoding="utf-8")
        complaints += check_file(path, text, lambda name: (sources.ROOT / name).is_file())
    return sources.report(complaints)


if __name__ == "__main__":
    sys.exit(main())
