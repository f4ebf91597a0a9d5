"""How many iterations may be unfinished: a burst of small ones loses nothing and leaves the program descriptors."""

import subprocess
import sys

import pytest
import tailrace

BURST = """
import os, resource, sys
import numpy as np
import tailrace

place, iterations, limit, out = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
text = f'''
tailrace: 1
name: burst
place: {{kind: {place}}}
memory: {{budget: 4 MiB}}
layouts: {{l: {{type: uint64, shape: [64]}}}}
variables: {{v: {{layout: l}}}}
'''
with open("burst.yaml", "w") as file:
    file.write(text)
with tailrace.open("burst.yaml", path=out) as client:
    most = 0
    for i in range(iterations):
        assert client.write("v", i, np.full(64, i, np.uint64)) is True
        assert client.end_iteration(i) is True
        if i % 20 == 0:
            most = max(most, len(os.listdir("/proc/self/fd")))
    client.flush()
    stats = client.stats()
    assert stats["iterations_published"] == iterations and stats["failures"] == 0, stats
    assert 0 < stats["iterations_peak"] <= stats["iterations_limit"], stats
    print(most, stats["iterations_limit"])
"""


@pytest.mark.parametrize("place", ["thread", "core"])
def test_a_burst_of_small_iterations_loses_nothing(place, tmp_path):
    out = tmp_path / "out"
    done = subprocess.run([sys.executable, "-c", BURST, place, "3000", "256", str(out)], cwd=tmp_path, text=True,
                          capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    most, limit = (int(number) for number in done.stdout.split())
    assert most <= 256 // 8 + 60, "most descriptors are the program's"
    assert limit == 16 or place == "core"
    assert len(list(out.glob("burst_c0_*.h5"))) == 3000


def test_the_configuration_may_allow_fewer(config):
    given = config()
    given.write_text(given.read_text().replace("memory: {", "memory: {iterations: 2, "))
    with tailrace.open(given) as client:
        assert client.stats()["iterations_limit"] == 2
        for iteration in (0, 1):
            client.signal("begun", iteration)
        with pytest.raises(tailrace.Error, match="2 iterations are open already") as caught:
            client.signal("begun", 2)
        assert caught.value.code == tailrace.Status.WRONG_ORDER
        for iteration in (0, 1):
            client.end_iteration(iteration)
        client.signal("begun", 2)
        client.end_iteration(2)
