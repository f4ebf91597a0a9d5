"""Forwarders and programs are killed at random: nothing that was reported as published is lost, nothing published is
wrong, and the survivors finish."""

import random

import forward_world as world
import pytest
from tailrace import cli
from tailrace.cli import forwarder

try:
    forwarder.find()
except forwarder.Missing as missing:
    pytest.skip(str(missing), allow_module_level=True)

PROGRAMS = 2
FORWARDERS = 2
STEPS_PER_KILL = 5


def run(directory, kills, seed, **forward):
    """Returns how many forwarders and programs were killed, and how many files the programs have left."""
    dice = random.Random(seed)
    key = directory / "key"
    assert cli.main(["key", "new", str(key)]) == 0
    out = directory / "out"
    out.mkdir()
    daemons = [world.Daemon(directory, out, key, number, **forward) for number in range(FORWARDERS)]
    killed = {"forwarders": 0, "programs": 0}
    programs = []
    try:
        config = world.write_config(directory, out, [daemon.address for daemon in daemons], key, **forward)
        programs = [world.Program(config, out, client, 20 + kills * STEPS_PER_KILL) for client in range(PROGRAMS)]
        running = set(programs)
        pause = 0  # lines until the next death
        while running and sum(killed.values()) < kills:
            program = world.next_line(running)
            if not program.read():
                running.remove(program)
                assert program.end() == 0, program.errors.read_text()
                continue
            pause -= 1
            if pause > 0:
                continue
            pause = dice.randrange(1, 2 * STEPS_PER_KILL)
            if dice.random() < 2 / 3:
                daemon = dice.choice(daemons)
                daemon.kill()
                daemon.start()
                killed["forwarders"] += 1
            else:
                program = dice.choice(sorted(running, key=lambda one: one.client))
                program.kill()
                program.start()
                killed["programs"] += 1
        for program in running:
            assert program.end() == 0, program.errors.read_text()
        return killed, sum(program.check() for program in programs)
    finally:
        for program in programs:
            program.process.kill()
        for daemon in daemons:
            daemon.process.kill()
            daemon.process.wait()
            daemon.process.stdout.close()


@pytest.mark.parametrize("kills", [6, pytest.param(300, marks=pytest.mark.slow)])
@pytest.mark.parametrize("connections", [1, 4])
def test_nothing_reported_is_lost(tmp_path, kills, connections):
    seed = world.seed()
    print(f"TAILRACE_TEST_SEED={seed}")
    killed, files = run(tmp_path, kills, seed, connections=connections)
    print(f"killed {killed['forwarders']} forwarders and {killed['programs']} programs; {files} files are right")
    assert sum(killed.values()) == kills
    assert files == PROGRAMS * (20 + kills * STEPS_PER_KILL)
