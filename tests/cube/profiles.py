"""Profiles for tests: real ones, read by pycubexr, and made-up ones, written here byte by byte."""

import io
import pathlib
import random
import struct
import tarfile
import zlib
from xml.sax import saxutils

import numpy
import slow_profile as slow

SHARED = pathlib.Path(__file__).parents[3] / "shared/data/cube"
REAL = ("blast", "kripke", "time")
SPECIFICATIONS = ("ghost", "void", "remapping", "scorep")


def real(name):
    """Returns a real profile as pycubexr reads it."""
    import pycubexr

    with pycubexr.CubexParser(SHARED / name / "profile.cubex") as parser:
        paths = parser.all_cnodes()  # in the order of the document, which need not be that of the ids
        numbers = {node.id: number for number, node in enumerate(paths)}
        parents = [-1] * len(paths)
        for node in paths:
            for child in node.get_children():
                parents[numbers[child.id]] = numbers[node.id]
        regions = list(parser._anchor_result.regions)
        region_numbers = {region.id: number for number, region in enumerate(regions)}
        locations = parser.get_locations()
        metrics = {}
        for metric in parser.all_metrics():
            metrics[metric.name] = slow.Metric(metric.name, metric.metric_type, metric.data_type, _values(
                parser, metric, paths, len(locations)))
        return slow.Profile(parents, [region_numbers[node.callee_region_id] for node in paths],
                            [{"name": one.name, "mangled": one.mangled_name or "", "module": one.mod or "",
                              "paradigm": one.paradigm or "", "role": one.role or "",
                              "description": one.description or ""} for one in regions],
                            [{"rank": each.rank} for each in locations],
                            [None] * _groups(name), metrics)


def _groups(name):
    with tarfile.open(SHARED / name / "profile.cubex") as archive:
        return archive.extractfile("anchor.xml").read().count(b"<locationgroup ")


def _values(parser, metric, paths, locations):
    from pycubexr.utils.exceptions import MissingMetricError

    try:
        values = parser.get_metric_values(metric)
    except MissingMetricError:
        return [[slow.neutral(metric.data_type)] * locations for _ in paths]
    return [plain(values.cnode_values(node)) if node.id in values.cnode_indices
            else [slow.neutral(metric.data_type)] * locations for node in paths]


def plain(values):
    """Returns pycubexr's values as Python's numbers."""
    return [getattr(value, "_values", value).item() for value in values]


# ---- made-up ones -------------------------------------------------------------------------------------------

TYPES = {"UINT8": "B", "INT8": "b", "UINT16": "H", "INT16": "h", "UINT32": "I", "INT32": "i", "UINT64": "Q",
         "INT64": "q", "INTEGER": "q", "DOUBLE": "d", "FLOAT": "d", "MINDOUBLE": "d", "MAXDOUBLE": "d"}


def made_up(seed, locations=None):
    """Returns a random profile. The evaluator computes up to 1024 locations at a time."""
    dice = random.Random(seed)
    locations = dice.choice([0, 1, 1, 2, 2, 3, 4, 5] * 6 + [1025]) if locations is None else locations
    paths = dice.randint(1, 12 if locations < 100 else 2)
    regions = [{"name": dice.choice(["main", "MPI_Send", "MPI_Barrier", "solve", "a < b & c", "omp"]) + str(at % 3),
                "mangled": f"r{at}", "module": dice.choice(["MPI", "x.c", ""]), "description": "",
                "paradigm": dice.choice(["mpi", "user", "openmp"]),
                "role": dice.choice(["barrier", "function", "point2point"])} for at in range(4)]
    parents, open_paths = [], []
    for path in range(paths):
        while open_paths and dice.random() < 0.4:
            open_paths.pop()
        parents.append(open_paths[-1] if open_paths and path else -1)
        open_paths.append(path)
    metrics = {}
    for number in range(dice.randint(1, 5)):
        dtype, kind = dice.choice(list(TYPES)), dice.choice(["EXCLUSIVE", "INCLUSIVE"])
        low, most = 0 if dtype[0] == "U" else -100, 100
        if TYPES[dtype] in "qQ" and dice.random() < 0.3:  # doubles have 53 bits
            most = 2 ** 63 - 1
        values = [[dice.choice([0, dice.randint(low, most)]) for _ in range(locations)] for _ in range(paths)]
        if TYPES[dtype] == "d":
            values = [[value / 8 for value in row] for row in values]
        for row in range(paths):
            if dice.random() < 0.3:
                values[row] = [slow.neutral(dtype) if TYPES[dtype] == "d" else 0] * locations
        metrics[f"m{number}"] = slow.Metric(f"m{number}", kind, dtype, values)
    return slow.Profile(parents, [dice.randrange(4) for _ in range(paths)], regions,
                        [{"rank": dice.randint(0, 9)} for _ in range(locations)], [0], metrics)


def wide_order(profile):
    """Returns the call paths in the order of inclusive metrics' rows."""
    order = []

    def descend(path):
        order.extend(profile.children[path])
        for child in profile.children[path]:
            descend(child)

    for root in (path for path, parent in enumerate(profile.parents) if parent < 0):
        order.append(root)
        descend(root)
    return order


def write(profile, path, *, order="<", index="sparse", compress=False, gzip=False, zipped_anchor=False):
    """Writes a profile as a Cube archive."""
    members = []
    for number, metric in enumerate(profile.metrics.values()):
        places = wide_order(profile) if metric.kind == "INCLUSIVE" else list(range(len(profile.parents)))
        ids = [place for place, path_ in enumerate(places)
               if index == "dense" or any(value != slow.neutral(metric.dtype) for value in metric.values[path_])]
        if index == "shuffled":
            random.Random(number).shuffle(ids)
        letter = TYPES[metric.dtype]
        convert = float if letter == "d" else int
        rows = [struct.pack(f"{order}{len(profile.locations)}{letter}", *map(convert, metric.values[places[at]]))
                for at in ids]
        head = b"CUBEX.INDEX" + struct.pack(f"{order}IHB", 1, 0, 3 if index == "dense" else 1)
        tail = b"" if index == "dense" else struct.pack(f"{order}I{len(ids)}I", len(ids), *ids)
        members += [(f"{number}.data", _data(rows, order, compress)), (f"{number}.index", head + tail)]
    text = anchor(profile).encode()
    if zipped_anchor:
        import gzip as zipping

        text = zipping.compress(text)
    members.append(("anchor.xml", text))
    with tarfile.open(path, "w:gz" if gzip else "w", format=tarfile.USTAR_FORMAT) as archive:
        for name, data in members:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))


def _data(rows, order, compress):
    if not compress:
        return b"CUBEX.DATA" + b"".join(rows)
    zipped = [zlib.compress(row) for row in rows]
    table, at, zipped_at = [], 0, 0
    for row, small in zip(rows, zipped):
        table += [at, zipped_at, len(small)]
        at, zipped_at = at + len(row), zipped_at + len(small)
    return b"ZCUBEX.DATA" + struct.pack(f"{order}{1 + len(table)}Q", len(rows), *table) + b"".join(zipped)


def anchor(profile):
    """Returns the text of a profile's anchor."""
    def escaped(text):
        return saxutils.escape(text, {'"': "&quot;"})

    lines = ['<?xml version="1.0" encoding="UTF-8"?>', '<cube version="4.4">', "<metrics>"]
    lines += [f'<metric id="{number}" type="{one.kind}"><disp_name>{one.name}</disp_name>'
              f'<uniq_name>{one.name}</uniq_name>'
              f"<dtype>{one.dtype}</dtype><uom></uom><url></url><descr></descr></metric>"
              for number, one in enumerate(profile.metrics.values())]
    lines += ["</metrics>", "<program>"]
    lines += [f'<region id="{number}" mod="{escaped(one["module"])}" begin="1" end="2">'
              f'<name>{escaped(one["name"])}</name>'
              f'<mangled_name>{one["mangled"]}</mangled_name><paradigm>{one["paradigm"]}</paradigm>'
              f'<role>{one["role"]}</role><url></url><descr>{one["description"]}</descr></region>'
              for number, one in enumerate(profile.regions)]

    def add(path):
        lines.append(f'<cnode id="{path}" calleeId="{profile.callees[path]}">')
        for child in profile.children[path]:
            add(child)
        lines.append("</cnode>")

    for path, parent in enumerate(profile.parents):
        if parent < 0:
            add(path)
    lines += ["</program>", '<system><systemtreenode Id="0"><name>machine</name><class>machine</class>',
              '<locationgroup Id="0"><name>Rank 0</name><rank>0</rank><type>process</type>']
    lines += [f'<location Id="{number}"><name>t{number}</name><rank>{one["rank"]}</rank>'
              f'<type>thread</type></location>'
              for number, one in enumerate(profile.locations)]
    return "\n".join(lines) + "</locationgroup></systemtreenode></system></cube>\n"


def array(rows):
    return numpy.array(rows, dtype=float)
