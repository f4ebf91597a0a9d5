"""Checks the output of an example: `check.py DIRECTORY [CLIENTS]`, the directory in which it ran.

Reads with h5dump, an independent reader, and needs only Python itself.
"""

import array
import pathlib
import subprocess
import sys
import tempfile

SHAPE = (48, 64)
FACTORS = {"temperature": 1.0, "pressure": 2.0, "density": 3.0}


def read(file: pathlib.Path, dataset: str) -> array.array:
    """Returns the elements of a dataset of doubles."""
    with tempfile.TemporaryDirectory() as directory:
        raw = pathlib.Path(directory, "raw")
        subprocess.run(["h5dump", "-d", dataset, "-b", "NATIVE", "-o", raw, file], check=True,
                       stdout=subprocess.DEVNULL)
        return array.array("d", raw.read_bytes())


def is_right(file: pathlib.Path, client: int, step: int) -> bool:
    """Returns True if a file contains this client's output of this step."""
    for variable, factor in FACTORS.items():
        begin = 10000.0 * client + 1000.0 * step
        expected = array.array("d", (factor * (begin + i) for i in range(SHAPE[0] * SHAPE[1])))
        if read(file, f"/data/{step}/meshes/{variable}") != expected:
            print(f"{file}: {variable} does not read back as it was written")
            return False
    return True


def main() -> int:
    directory = pathlib.Path(sys.argv[1], "out")
    clients = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    expected_files = {f"sim_c{client}_{step:06d}.h5" for client in range(clients) for step in range(3)}
    found = {file.name for file in directory.iterdir() if file.suffix in (".h5", ".part")}
    if found != expected_files:
        print(f"{directory}: expected {sorted(expected_files)}, found {sorted(found)}")
        return 1
    for client in range(clients):
        for step in range(3):
            if not is_right(directory / f"sim_c{client}_{step:06d}.h5", client, step):
                return 1
    print(f"{directory}: {3 * clients} files, as they should be")
    return 0


if __name__ == "__main__":
    sys.exit(main())
