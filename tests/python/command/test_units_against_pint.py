"""Units of the configuration: factor and powers of every unit, prefix and random product are those of Pint."""

import random

import h5py
import numpy as np
import pytest
import tailrace

pint = pytest.importorskip("pint")

UNITS = {"m": "meter", "g": "gram", "s": "second", "A": "ampere", "K": "kelvin", "mol": "mole", "cd": "candela",
         "N": "newton", "Pa": "pascal", "J": "joule", "W": "watt", "Hz": "hertz", "C": "coulomb", "V": "volt",
         "Ohm": "ohm", "S": "siemens", "F": "farad", "H": "henry", "Wb": "weber", "T": "tesla", "lm": "lumen",
         "lx": "lux", "Bq": "becquerel", "Gy": "gray", "Sv": "sievert", "kat": "katal", "rad": "radian",
         "sr": "steradian", "L": "liter", "l": "liter", "t": "metric_ton", "bar": "bar", "eV": "electron_volt"}
WITHOUT_PREFIX = {"deg": "degree", "min": "minute", "h": "hour", "day": "day", "d": "day", "%": "percent"}
PREFIXES = {"Q": "quetta", "R": "ronna", "Y": "yotta", "Z": "zetta", "E": "exa", "P": "peta", "T": "tera",
            "G": "giga", "M": "mega", "k": "kilo", "h": "hecto", "da": "deca", "d": "deci", "c": "centi",
            "m": "milli", "u": "micro", "n": "nano", "p": "pico", "f": "femto", "a": "atto", "z": "zepto",
            "y": "yocto", "r": "ronto", "q": "quecto"}
DIMENSIONS = ["[length]", "[mass]", "[time]", "[current]", "[temperature]", "[substance]", "[luminosity]"]
BASE = {"[length]": "meter", "[mass]": "kilogram", "[time]": "second", "[current]": "ampere",
        "[temperature]": "kelvin", "[substance]": "mole", "[luminosity]": "candela"}
registry = pint.UnitRegistry()


def as_pint_has_it(text):
    """Returns factor and powers of a unit in Pint's spelling."""
    quantity = registry.Quantity(1.0, text)
    powers = [quantity.dimensionality.get(dimension, 0) for dimension in DIMENSIONS]
    base = " * ".join(f"{BASE[name]} ** {power}" for name, power in zip(DIMENSIONS, powers)) or "dimensionless"
    return quantity.to(base).magnitude, powers


def as_tailrace_has_it(out, units):
    """Returns factors and powers as they are in a file."""
    names = [f"v{number}" for number in range(len(units))]
    config = {"name": "units", "storage": {"path": str(out), "existing": "replace"},
              "layouts": {"one": {"type": "int8", "shape": [1]}},
              "variables": {name: {"layout": "one", "unit": unit} for name, unit in zip(names, units)}}
    with tailrace.open(config) as client:
        for name in names:
            client.write(name, 0, np.zeros(1, np.int8))
        client.end_iteration(0)
    with h5py.File(out / "units_c0_000000.h5") as opened:
        meshes = opened["data/0/meshes"]
        return [(meshes[name].attrs["unitSI"], list(meshes[name].attrs["unitDimension"])) for name in names]


def compare(out, pairs):
    found = as_tailrace_has_it(out, [ours for ours, _ in pairs])
    for (ours, theirs), (factor, powers) in zip(pairs, found):
        expected, dimension = as_pint_has_it(theirs)
        assert powers == dimension, (ours, theirs)
        assert factor == pytest.approx(expected, rel=1e-12), (ours, theirs)


def test_every_unit_and_prefix(out):
    pairs = list({**UNITS, **WITHOUT_PREFIX}.items())
    # "min" is a minute, "cd" a candela, "Pa" a pascal: no prefix of another unit.
    taken = {**UNITS, **WITHOUT_PREFIX}
    pairs += [(short + unit, long + UNITS[unit]) for short, long in PREFIXES.items() for unit in UNITS
              if short + unit not in taken]
    compare(out, pairs)


def test_random_products(out):
    seed = random.randrange(2**32)
    print("seed", seed)
    dice = random.Random(seed)
    pairs = []
    for _ in range(200):
        ours, theirs, divided = "", "", False  # after a '/', only further ones: other products are refused
        for factor in range(dice.randint(1, 4)):
            unit = dice.choice(list(UNITS))
            prefix = dice.choice(["", "", "k", "m", "u"])
            if prefix + unit in {**UNITS, **WITHOUT_PREFIX}:
                prefix = ""
            power = dice.choice([1, 1, 2, 3, -1, -2])
            divided = factor > 0 and (divided or dice.random() < 0.3)
            ours += ("/" if divided else "*" if dice.random() < 0.5 else " ") if factor else ""
            ours += prefix + unit + ("" if power == 1 else dice.choice(["^", "**"]) + str(power))
            long = PREFIXES[prefix] + UNITS[unit] if prefix else UNITS[unit]
            theirs += (" / " if divided else " * ") if factor else ""
            theirs += f"{long} ** {power}"
        pairs.append((ours, theirs))
    compare(out, pairs)
