"""A profile as plain lists and dictionaries, and the metrics of a specification on it, one value at a time."""

import dataclasses
import re
import sys
from xml.etree import ElementTree

import slow_cubepl as cubepl


def neutral(dtype):
    """Returns the values of a row that a profile leaves out: no value is less than that of a least value, or greater
    than that of a greatest one."""
    return {"MINDOUBLE": sys.float_info.max, "MAXDOUBLE": -sys.float_info.max}.get(dtype, 0.0)


@dataclasses.dataclass
class Metric:
    """A metric; `values` has a row of all locations for each call path, of the flavour that `kind` says. Integers are
    Python's, so that their sums are not rounded."""

    name: str
    kind: str = "EXCLUSIVE"
    dtype: str = "DOUBLE"
    values: list | None = None
    expression: str = ""
    init: str = ""
    plus: str = ""
    minus: str = ""
    void: bool = False


@dataclasses.dataclass
class Profile:
    """A call tree in preorder, regions and locations as dictionaries, and metrics by their names."""

    parents: list  # of call paths; -1: a root
    callees: list  # of call paths: regions
    regions: list
    locations: list
    groups: list
    metrics: dict

    def __post_init__(self):
        self.children = [[] for _ in self.parents]
        for path, parent in enumerate(self.parents):
            if parent >= 0:
                self.children[parent].append(path)


def read_specification(text):
    """Returns metrics in document order. CubePL may have letters that XML does not allow."""
    text = re.sub(r"(<cubepl\w*[^>]*>)(.*?)(</cubepl\w*>)",
                  lambda match: match[1] + re.sub(r"&(?!lt;|gt;|amp;|quot;|apos;|#)", "&amp;", match[2])
                  .replace("<", "&lt;") + match[3], text, flags=re.DOTALL)
    root = ElementTree.fromstring(f"<all>{re.sub(r'<[?].*?[?]>', '', text)}</all>")
    found = []
    for node in root.iter("metric"):
        code = {kind: (node.findtext(kind) or "").strip() for kind in ("cubepl", "cubeplinit")}
        aggregations = {each.get("cubeplaggrtype"): each.text.strip() for each in node.findall("cubeplaggr")}
        found.append(Metric(node.findtext("uniq_name").strip(), node.get("type", "EXCLUSIVE"),
                            (node.findtext("dtype") or "").strip(), None, code["cubepl"], code["cubeplinit"],
                            aggregations.get("plus", ""), aggregations.get("minus", ""),
                            node.get("viztype") == "VOID"))
    return found


class World:
    """The metrics of a specification on a profile."""

    def __init__(self, profile, specification):
        self.profile, self.globals, self.initialising = profile, {}, True
        self.metrics = {name: metric for name, metric in profile.metrics.items()}
        self.listed = []
        for metric in specification:
            stored = profile.metrics.get(metric.name)
            if not metric.expression and stored and stored.values is not None:
                metric = dataclasses.replace(stored, void=metric.void, init=metric.init)
            self.metrics[metric.name] = metric
            self.listed.append(metric)
        self.trees, self.memory = {}, {}
        for metric in self.listed:
            if metric.init:
                cubepl.Evaluation(self, None).run(self.parse(metric.init))
        self.initialising = False
        for metric in list(self.metrics.values()):
            for code in (metric.expression, metric.plus, metric.minus):
                if code:
                    self.parse(code)

    def parse(self, code):
        if code not in self.trees:
            parser = cubepl.Parser(code)
            self.trees[code] = parser.program()
            for name, kind, tree in parser.defined:
                self.metrics[name] = Metric(name, kind, expression=f"defined {name}")
                self.trees[f"defined {name}"] = tree
        return self.trees[code]

    # ---- metrics ----

    def values(self, name, flavour):
        """Returns the rows of all call paths."""
        locations = range(len(self.profile.locations))
        return [[self.at(self.metrics[name], flavour, path, location) for location in locations]
                for path in range(len(self.profile.parents))]

    def metric(self, name, flavour, fixed, place):
        if self.initialising or name not in self.metrics:
            return 0.0
        path, location, current = place
        flavour = current if flavour == "*" else flavour
        if fixed == "program" or path is None:
            return float(self.total(self.metrics[name], "i", None))
        if fixed or location is None:
            return float(self.total(self.metrics[name], flavour, path))
        return float(self.at(self.metrics[name], flavour, path, location))

    def total(self, metric, flavour, path):
        key = metric.name, flavour, path, None
        if key not in self.memory:
            if metric.kind == "POSTDERIVED" and not metric.void:
                tree = self.parse(metric.expression)
                self.memory[key] = cubepl.number(cubepl.Evaluation(self, (path, None, flavour)).run(tree))
            elif path is None:
                roots = [path for path, parent in enumerate(self.profile.parents) if parent < 0]
                self.memory[key] = self._combined(metric, [self.total(metric, "i", root) for root in roots])
            else:
                row = [self.at(metric, flavour, path, each) for each in range(len(self.profile.locations))]
                self.memory[key] = self._combined(metric, row)
        return self.memory[key]

    def at(self, metric, flavour, path, location):
        key = metric.name, flavour, path, location
        if key not in self.memory:
            self.memory[key] = self._at(metric, flavour, path, location)
        return self.memory[key]

    def _at(self, metric, flavour, path, location):
        if metric.void:
            return 0.0
        if not metric.expression and metric.values is None:
            return neutral(metric.dtype)
        own = "i" if metric.kind.endswith("INCLUSIVE") else "e"
        if flavour == own or metric.kind == "POSTDERIVED":
            if not metric.expression:
                return metric.values[path][location]
            evaluation = cubepl.Evaluation(self, (path, location, flavour))
            return cubepl.number(evaluation.run(self.parse(metric.expression)))
        value = self.at(metric, own, path, location)
        if own == "e":
            for child in self._below(path):
                value = self._add(metric, value, self.at(metric, own, child, location))
        elif metric.minus or metric.dtype not in ("MINDOUBLE", "MAXDOUBLE"):
            for child in self.profile.children[path]:
                value = self._subtract(metric, value, self.at(metric, own, child, location))
        return value

    def _below(self, path):
        for child in self.profile.children[path]:
            yield child
            yield from self._below(child)

    def _combined(self, metric, values):
        result = values[0] if values else 0.0 if metric.void else neutral(metric.dtype)
        for value in values[1:]:
            result = self._add(metric, result, value)
        return result

    def _add(self, metric, left, right):
        if metric.plus:
            return self._aggregate(metric.plus, left, right)
        if metric.dtype == "MINDOUBLE":
            return min(left, right)
        return max(left, right) if metric.dtype == "MAXDOUBLE" else left + right

    def _subtract(self, metric, left, right):
        return self._aggregate(metric.minus, left, right) if metric.minus else left - right

    def _aggregate(self, code, left, right):
        evaluation = cubepl.Evaluation(self, (0, 0, "e"), {"arg1": left, "arg2": right})
        return cubepl.number(evaluation.run(self.parse(code)))

    def property(self, name, what):
        return "VOID" if what == "value" and name in self.metrics and self.metrics[name].void else ""

    def set_property(self, name, what, value):
        if name in self.metrics and what == "value":
            self.metrics[name].void = value.upper() == "VOID"

    # ---- predefined variables: those that specifications use ----

    _LISTS = {"cube::region::name": ("regions", "name"), "cube::region::paradigm": ("regions", "paradigm"),
              "cube::region::role": ("regions", "role"), "cube::region::mod": ("regions", "module"),
              "cube::region::mangled::name": ("regions", "mangled"), "cube::location::rank": ("locations", "rank")}

    def is_predefined(self, name):
        return name in self._LISTS or name in self._counts() or name in (
            "cube::callpath::calleeid", "cube::callpath::parent::id", "calculation::callpath::id",
            "calculation::region::id", "calculation::region::name", "calculation::region::description",
            "calculation::sysres::rank", "calculation::sysres::id", "calculation::sysres::name",
            "calculation::process::void", "calculation::thread::void")

    def _counts(self):
        profile = self.profile
        return {"cube::#callpaths": len(profile.parents), "cube::#regions": len(profile.regions),
                "cube::#threads::nonvoid": len(profile.locations), "cube::#locations": len(profile.locations),
                "cube::#processes::nonvoid": len(profile.groups)}

    def predefined_size(self, name):
        if name in self._LISTS:
            return len(getattr(self.profile, self._LISTS[name][0]))
        return len(self.profile.parents) if name.startswith("cube::callpath") else 1

    def predefined(self, name, index, place):
        profile = self.profile
        if name in self._counts():
            return float(self._counts()[name])
        if name in self._LISTS:
            objects, what = self._LISTS[name]
            objects = getattr(profile, objects)
            return objects[index][what] if 0 <= index < len(objects) else None
        if name.startswith("cube::callpath"):
            array = profile.callees if name.endswith("calleeid") else profile.parents
            return float(array[index]) if 0 <= index < len(array) else None
        if place is None:
            return None
        path, location, _ = place
        if path is None:
            return None
        if name == "calculation::callpath::id":
            return float(path)
        if name.startswith("calculation::region"):
            region = profile.callees[path]
            return float(region) if name.endswith("::id") else profile.regions[region][name.rsplit("::", 1)[1]]
        if name.endswith("void") or location is None:
            return 0.0
        if name.endswith("name"):
            return f"t{location}"
        return float(profile.locations[location]["rank"] if name.endswith("rank") else location)
