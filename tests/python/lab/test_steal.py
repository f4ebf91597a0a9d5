"""Runs that the machine's host disturbed are repeated: with fake clocks."""

import pytest
from tailrace_lab.bench import steal

REAL = steal.stolen_seconds  # before the fixture `undisturbed` replaces it


class Host:
    """Runs of a second each, from which the given times are taken in turn."""

    def __init__(self, *takes: float) -> None:
        self._takes = list(takes)
        self.time = self.stolen = 0.0
        self.runs = self.tidied = 0

    def run(self) -> int:
        self.time += 1.0
        self.stolen += self._takes[self.runs]
        self.runs += 1
        return self.runs

    def tidy(self) -> None:
        self.tidied += 1
        self.stolen += 0.5  # of no run
        self.time += 100.0


def meter(host: Host, tries: int = 3) -> steal.Steal:
    return steal.Steal(tries=tries, stolen=lambda: host.stolen, clock=lambda: host.time)


@pytest.mark.parametrize("takes, kept, runs, repeated, disturbed", [
    ((0.0,), 1, 1, 0, 0), ((0.01,), 1, 1, 0, 0), ((0.02, 0.0), 2, 2, 1, 0), ((0.5, 0.2, 0.3), 2, 3, 1, 1),
    ((0.5, 0.5, 0.005), 3, 3, 1, 0)])
def test_the_least_disturbed_is_kept(takes, kept, runs, repeated, disturbed):
    host = Host(*takes)
    counted = meter(host)
    assert counted.least_disturbed(host.run, host.tidy) == kept
    assert (host.runs, host.tidied) == (runs, runs)
    document = counted.document()
    assert {key: document[key] for key in steal.KEYS} == {"limit": steal.LIMIT, "tries": 3, "runs": 1,
                                                          "repeated": repeated, "disturbed": disturbed}


def test_what_fails_fails_at_once_and_is_tidied():
    host = Host(0.9)

    def fail() -> int:
        host.run()
        raise ValueError("no luck")

    with pytest.raises(ValueError, match="no luck"):
        meter(host).least_disturbed(fail, host.tidy)
    assert (host.runs, host.tidied) == (1, 1)


def test_told():
    host = Host(0.5, 0.0, 0.5, 0.5, 0.5, 0.0)
    counted = meter(host)
    assert steal.told(counted.document()) == [] and steal.told({}) == []
    counted.least_disturbed(host.run)
    assert steal.told(counted.document())[0].startswith("1 of 1 runs were done again")
    assert "no undisturbed try" not in steal.told(counted.document())[0]
    counted.least_disturbed(host.run)
    assert "2 of 2 runs" in steal.told(counted.document())[0]
    document = {**counted.document(), "stolen": 0.125, "load_before": 3.5, "load_after": 4.0, "processors": 2}
    said = steal.told(document)[0]
    assert "1 of them had no undisturbed try" in said and said.endswith(" Repeat it on a quiet machine.")
    assert "took 12.5 % of the processors' time, and the load was 3.5 before and 4.0 after, on 2 processors" in said
    assert steal.unrest(dict.fromkeys(steal.KEYS, 1)) == "", "a file of an earlier version"


def test_this_machine():
    before = REAL()
    assert 0.0 <= before <= REAL()
