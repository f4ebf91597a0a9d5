"""The models against an independent check: a small discrete-event simulation of a program and its writers.

The simulation knows no formula: a program, and a writer for each device, are processes that compute, wait for memory,
and pass blocks through queues, on a simulated clock. docs/models.md says where models and simulation differ, and
which is right.
"""

import heapq
import itertools
import random

import pytest
from tailrace.models import pipeline, shield


class World:
    """A simulated clock; processes are generators that yield seconds to spend or a Store to take one thing from."""

    def __init__(self):
        self.now = 0.0
        self._due, self._number = [], itertools.count()

    def start(self, process, value=None):
        heapq.heappush(self._due, (self.now, next(self._number), process, value))

    def run(self):
        while self._due:
            self.now, _, process, value = heapq.heappop(self._due)
            try:
                asked = process.send(value)
            except StopIteration:
                continue
            if isinstance(asked, Store):
                asked.take(process)
            else:
                heapq.heappush(self._due, (self.now + asked, next(self._number), process, None))


class Store:
    """Things in the order they were put; a process that takes from an empty store waits, first come, first served."""

    def __init__(self, world, things=()):
        self._world, self._things, self._waiting = world, list(things), []

    def put(self, thing):
        if self._waiting:
            self._world.start(self._waiting.pop(0), thing)
        else:
            self._things.append(thing)

    def take(self, process):
        if self._things:
            self._world.start(process, self._things.pop(0))
        else:
            self._waiting.append(process)


def simulate(n, c, w, *, req=0.0, copy=0.0, devices=1, variables=1, blocks=None, pause=lambda: 0.0,
             device_of=None):
    """Returns the seconds until the last byte of n iterations is written. `pause` delays the program and writers
    arbitrarily."""
    world = World()
    memory = Store(world, range(blocks or n))
    queues = [Store(world) for _ in range(devices)]
    end = 0.0

    def program():
        for iteration in range(n):
            queue = queues[device_of(iteration) if device_of else iteration % devices]
            if not copy:
                yield memory
            for variable in range(variables):
                yield c / variables + pause()
                if copy:  # into the pool: memory is needed only now
                    if variable == 0:
                        yield memory
                    yield copy / variables
                yield req
                queue.put(variable == variables - 1)

    def writer(queue):
        nonlocal end
        while True:
            last = yield queue
            yield w / variables + pause()
            end = max(end, world.now)
            if last:
                memory.put(None)

    for queue in queues:
        world.start(writer(queue))
    world.start(program())
    world.run()
    return end


def simulate_shield(variables, n, period, buffers):
    """Returns (waits of each variable, flush) of a program that lends its own memories to one writer."""
    world = World()
    queue, idle = Store(world), Store(world)
    memory = [Store(world, range(buffers - 1)) for _ in variables]  # the program holds one of each at first
    waits, flush = [0.0] * len(variables), 0.0
    steps = [(iteration * period + one.handover, False, index) for iteration in range(n)
             for index, one in enumerate(variables)]
    steps += [(iteration * period + one.handover + one.pst, True, index) for iteration in range(n - 1)
              for index, one in enumerate(variables)]
    steps.sort()

    def program():
        nonlocal flush
        planned = 0.0
        for time, need, index in steps:
            yield time - planned
            planned = time
            if need:
                before = world.now
                yield memory[index]
                waits[index] += world.now - before
            else:
                queue.put(index)
        yield n * period - planned
        before = world.now
        queue.put(None)
        yield idle
        flush = world.now - before

    def writer():
        while (index := (yield queue)) is not None:
            yield variables[index].write
            memory[index].put(None)
        idle.put(None)

    world.start(writer())
    world.start(program())
    world.run()
    return waits, flush


@pytest.fixture
def draw():
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    return random.Random(seed)


def program(draw):
    """Draws n, C and W, sometimes equal or multiples of each other."""
    c = draw.choice([0.0, 1.0, 2.0, 10 ** draw.uniform(-2, 2)])
    w = draw.choice([1.0, 3.0, 10 ** draw.uniform(-2, 2)])
    return draw.randint(1, 40), c, w


def test_model_1(draw):
    for _ in range(300):
        n, c, w = program(draw)
        assert simulate(n, c, w) == pytest.approx(pipeline.model1(n, c, w))
        assert simulate(n, c, w, blocks=1) == pytest.approx(pipeline.sync(n, c, w))


def test_model_2_is_too_high_by_the_requests_that_writing_hides(draw):
    for _ in range(300):
        n, c, w = program(draw)
        req = 10 ** draw.uniform(-5, 0)
        found = simulate(n, c, w, req=req)
        hidden = (n - 1) * min(req, max(0.0, w - c))
        assert found == pytest.approx(pipeline.model2(n, c, w, req) - hidden)
        assert found == pytest.approx(pipeline.model1(n, c + req, w))


def test_a_copy_is_computing(draw):
    for _ in range(300):
        n, c, w = program(draw)
        copy = 10 ** draw.uniform(-3, 1)
        found = simulate(n, c, w, copy=copy, blocks=draw.randint(2, 4))
        assert found == pytest.approx(pipeline.with_copy(n, c, w, 0, copy))


def test_model_3_is_right_where_every_device_writes_as_often(draw):
    for _ in range(300):
        n, c, w = program(draw)
        devices = draw.randint(1, 5)
        n = 1 + devices * draw.randint(0, 10)
        assert simulate(n, c, w, devices=devices) == pytest.approx(pipeline.model3(n, c, w, devices))


def test_the_limit_with_several_devices_and_variables(draw):
    for _ in range(500):
        n, c, w = program(draw)
        devices, variables = draw.randint(1, 5), draw.randint(1, 5)
        assert simulate(n, c, w, devices=devices, variables=variables) == pytest.approx(
            pipeline.limit(n, c, w, devices, variables))


def test_two_writes_at_once_beat_model_3():
    assert simulate(2, 0.1, 1, devices=2) == pytest.approx(1.2)
    assert pipeline.model3(2, 0.1, 1, 2) == pytest.approx(1.6)
    assert pipeline.limit(2, 0.1, 1, 2) == pytest.approx(1.2)


def test_no_schedule_beats_the_limit(draw):
    for _ in range(500):
        n, c, w = program(draw)
        devices, variables = draw.randint(1, 4), draw.randint(1, 4)
        found = simulate(n, c, w, devices=devices, variables=variables, blocks=draw.choice([None, 1, 2, 5]),
                         pause=lambda: draw.choice([0.0, 0.0, draw.random()]),
                         device_of=lambda iteration: draw.randrange(devices))
        assert found >= pipeline.limit(n, c, w, devices, variables) * (1 - 1e-9)


def test_memory_for_one_block_more_than_devices_is_enough(draw):
    for _ in range(500):
        n, c, w = program(draw)
        devices, blocks = draw.randint(1, 4), draw.randint(1, 6)
        found = simulate(n, c, w, devices=devices, blocks=blocks)
        assert found == pytest.approx(pipeline.bounded(n, c, w, blocks, devices))
        if blocks > devices:
            assert found == pytest.approx(pipeline.limit(n, c, w, devices))


def test_shield_waits(draw):
    for _ in range(500):
        n, buffers, period = draw.randint(1, 12), draw.randint(1, 3), 10 ** draw.uniform(-1, 1)
        together, tied = draw.random() < 0.4, draw.random() < 0.4
        variables = [shield.Variable(f"v{index}", draw.choice([0.0, period]) if tied else draw.uniform(0, period),
                                     draw.choice([0.0, draw.uniform(0, 2 * period / 3)]),
                                     period if together else draw.uniform(0, period))
                     for index in range(draw.randint(1, 5))]
        found = shield.run(variables, n, period, buffers)
        waits, flush = simulate_shield(variables, n, period, buffers)
        assert found.total == pytest.approx(sum(waits) + flush, abs=1e-9)
        if not tied:  # which of several variables needed at one moment is waited for depends on rounding
            assert found.each == pytest.approx(waits, abs=1e-9)
        assert found.flush == pytest.approx(flush, abs=1e-9)


def test_variables_computed_in_place_one_after_the_other(draw):
    for _ in range(300):
        n, c, w = program(draw)
        count = draw.randint(1, 6)
        variables = [shield.Variable(f"v{index}", c - c / count, w / count, (index + 1) * c / count)
                     for index in range(count)]
        limit = pipeline.limit(n, c, w, 1, count)
        # With two or more variables, the writer writes the others while one is computed: no second memory is needed.
        assert n * c + shield.run(variables, n, c).total == pytest.approx(limit if count > 1 else n * (c + w))
        assert n * c + shield.run(variables, n, c, buffers=2).total == pytest.approx(limit)
