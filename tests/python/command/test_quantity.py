"""Sizes, times and rates as people write them; a number without a unit is an error that names the units."""

import random

import pytest
from tailrace import quantity
from tailrace.quantity import QuantityError


@pytest.mark.parametrize(("text", "value"), [
    ("256MiB", 268435456), ("256 MB", 256 * 10**6), ("1.5 GB", 1_500_000_000), ("1e3kB", 10**6), ("0.5KiB", 512),
    ("7 B", 7), ("  2 TiB ", 2 * 2**40), (".5 TB", 5 * 10**11), ("1.1GB", 1_100_000_000), ("-1 B", -1)])
def test_sizes(text, value):
    assert quantity.parse_size(text) == value


@pytest.mark.parametrize(("text", "value"), [
    ("400ms", 0.4), ("0.4 s", 0.4), ("2min", 120.0), ("1.5h", 5400.0), ("8.4us", 8.4e-6), ("2.1 µs", 2.1e-6),
    ("2.1 \u03bcs", 2.1e-6), ("3ns", 3e-9), ("1e-3s", 0.001), ("-2s", -2.0)])
def test_times(text, value):
    assert quantity.parse_time(text) == value


@pytest.mark.parametrize(("text", "value"), [("2GB/s", 2e9), ("500 MiB/s", 500 * 2.0**20), ("0.5TB/s", 5e11)])
def test_rates(text, value):
    assert quantity.parse_rate(text) == value


@pytest.mark.parametrize(("parse", "text", "said"), [
    (quantity.parse_rate, "2", "expected a rate with a unit (B/s, kB/s, MB/s"),
    (quantity.parse_rate, "2GB", "did you mean GB/s?"),
    (quantity.parse_rate, "2 Gb/s", "did you mean GB/s?"),
    (quantity.parse_size, "256", "with a unit (B, kB, MB, GB, TB, KiB, MiB, GiB or TiB)"),
    (quantity.parse_size, "256mib", "did you mean MiB?"),
    (quantity.parse_size, "2GB/s", "expected a size in B, kB"),
    (quantity.parse_size, "MiB", "expected a size such as 256MiB, found 'MiB'"),
    (quantity.parse_size, "1e40 B", "beyond all measure"),
    (quantity.parse_time, "400", "with a unit (ns, us, ms, s, min or h)"),
    (quantity.parse_time, "", "expected a time such as 400ms, found ''"),
    (quantity.parse_time, "1e3", "without one"),
    (quantity.parse_time, "1m", "expected a time in ns, us"),
    (quantity.parse_time, "nan s", "found 'nan s'"),
    (quantity.parse_time, "inf", "found 'inf'"),
    (quantity.parse_time, "1_000s", "found '1_000s'"),
    (quantity.parse_time, "1e9999s", "found '1e9999s'"),
    (quantity.parse_time, "٣s", "found '٣s'")])
def test_what_is_none(parse, text, said):
    with pytest.raises(QuantityError) as found:
        parse(text)
    assert said in str(found.value) and repr(text) in str(found.value)


@pytest.mark.parametrize(("seconds", "text"), [
    (0.4, "400 ms"), (2.1e-6, "2.1 µs"), (0, "0 s"), (3e-9, "3 ns"), (1.0, "1 s"), (53.4, "53.4 s"), (119, "119 s"),
    (2657, "44 min 17 s"), (2506, "41 min 46 s"), (7200, "2 h"), (3661, "1 h 1 min 1 s"), (0.9999, "1 s"),
    (0.0159, "15.9 ms"), (-0.7, "-700 ms"), (119.7, "2 min"), (-3661, "-1 h 1 min 1 s")])
def test_times_for_people(seconds, text):
    assert quantity.format_time(seconds) == text


@pytest.mark.parametrize(("count", "text"), [(0, "0 B"), (512, "512 B"), (1536, "1.5 KiB"), (2**28, "256 MiB"),
                                             (3 * 2**40, "3 TiB"), (5000 * 2**40, "5000 TiB")])
def test_sizes_for_people(count, text):
    assert quantity.format_size(count) == text


@pytest.mark.parametrize(("rate", "text"), [(2e9, "2 GB/s"), (5.2e8, "520 MB/s"), (1.5e13, "15 TB/s"), (3, "3 B/s")])
def test_rates_for_people(rate, text):
    assert quantity.format_rate(rate) == text


def test_what_is_written_is_read_again():
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    draw = random.Random(seed)
    for _ in range(500):
        value = 10 ** draw.uniform(-8, 2)
        assert quantity.parse_time(quantity.format_time(value)) == pytest.approx(value, rel=0.006)
        value = 10 ** draw.uniform(1, 15)
        assert quantity.parse_size(quantity.format_size(value)) == pytest.approx(value, rel=0.06)
        assert quantity.parse_rate(quantity.format_rate(value)) == pytest.approx(value, rel=0.06)
