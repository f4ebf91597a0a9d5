"""Starts clients of a node, and waits for them: `run.py 4 PROGRAM` runs `PROGRAM --client 0` to `--client 3` at once.

For real programs, mpirun or a batch system does this. Needs only Python itself.
"""

import subprocess
import sys


def main() -> int:
    count, command = int(sys.argv[1]), sys.argv[2:]
    clients = [subprocess.Popen([*command, "--client", str(number)]) for number in range(count)]
    codes = [client.wait() for client in clients]
    for number, code in enumerate(codes):
        if code != 0:
            print(f"client {number}: exit code {code}", file=sys.stderr)
    return 1 if any(codes) else 0


if __name__ == "__main__":
    sys.exit(main())
