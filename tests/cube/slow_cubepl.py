"""A slow interpreter of CubePL, written from docs/formats/cubepl.md: the tests compare tailrace's with it.

It computes one value at a time. A program is a tree of tuples, whose first element names what it is.
"""

import math
import os
import re

_TOKEN = re.compile(r"""
    (?P<blank>\s+|//[^\n]*)
  | (?P<number>(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?)
  | (?P<text>"(?:\\"|[^"])*")
  | (?P<variable>\$\s*\{\s*[^}\s]+\s*\})
  | (?P<metric>(?:cube::)?metric::[^\s(]+)
  | (?P<name>[A-Za-z_][A-Za-z0-9_\#]*(?:::[A-Za-z0-9_\#]+)*)
  | (?P<symbol><<|>>|<=|>=|==|!=|=~|[(){}\[\];,|+\-*/^<>=])
""", re.VERBOSE)
_REGEX = re.compile(r"\s*/((?:\\/|[^/])*)/")
_MOST_INDICES = 2 ** 28


def _whole(function):
    return lambda x: function(x) if math.isfinite(x) else x


def _ln(x):
    return -math.inf if x == 0 else math.log(x)


def _exp(x):
    try:
        return math.exp(x)
    except OverflowError:
        return math.inf


_FUNCTIONS = {
    "abs": abs, "acos": math.acos, "asin": math.asin, "atan": math.atan, "ceil": _whole(math.ceil), "cos": math.cos,
    "exp": _exp, "floor": _whole(math.floor), "ln": _ln, "log": _ln, "neg": lambda x: x if x < 0 else 0.0,
    "pos": lambda x: x if x > 0 else 0.0, "sgn": lambda x: (x > 0) - (x < 0), "sin": math.sin, "sqrt": math.sqrt,
    "tan": math.tan, "min": min, "max": max}


class CubePLError(Exception):
    """A mistake in a program."""


def tokens_of(text):
    """Returns pairs of kind and text."""
    tokens, at = [], 0
    while at < len(text):
        if tokens and tokens[-1] == ("symbol", "=~"):
            match = _REGEX.match(text, at)
            if not match:
                raise CubePLError(f"expected /…/ at {at}")
            tokens.append(("regex", match[1].replace("\\/", "/")))
        else:
            match = _TOKEN.match(text, at)
            if not match:
                raise CubePLError(f"unknown letter {text[at]!r} at {at}")
            if match.lastgroup != "blank":
                kind = next(kind for kind, value in match.groupdict().items() if value is not None)
                if kind != "blank":
                    tokens.append((kind, match[0]))
        at = match.end()
    return tokens + [("end", "")]


class Parser:
    """Recursive descent, one function for each level of precedence."""

    _LEVELS = [("and", "or", "xor"), None, ("<", "<=", ">", ">=", "==", "!=", "=~", "eq", "seq"), ("+", "-"),
               ("*", "/")]

    def __init__(self, text):
        self.tokens, self.at, self.defined = tokens_of(text), 0, []

    def program(self):
        tree = self.expression()
        self.accept(";")
        if self.peek()[0] != "end":
            raise CubePLError(f"expected the end, found {self.peek()[1]}")
        return tree

    def peek(self):
        return self.tokens[self.at]

    def take(self):
        self.at += 1
        return self.tokens[self.at - 1]

    def accept(self, text):
        if self.peek()[1] == text and self.peek()[0] in ("symbol", "name"):
            return self.take()
        return None

    def expect(self, text):
        if not self.accept(text):
            raise CubePLError(f"expected {text}, found {self.peek()[1]!r}")

    def expression(self, level=0):
        if level == len(self._LEVELS):
            return self.sign()
        if self._LEVELS[level] is None:
            return ("not", self.expression(level)) if self.accept("not") else self.expression(level + 1)
        left = self.expression(level + 1)
        while self.peek()[0] in ("symbol", "name") and self.peek()[1] in self._LEVELS[level]:
            operator = self.take()[1]
            if operator == "=~":
                left = ("=~", left, re.compile(self.take()[1]))
            else:
                left = (operator, left, self.expression(level + 1))
        return left

    def sign(self):
        if self.accept("-"):
            return ("negate", self.sign())
        if self.accept("+"):
            return self.sign()
        base = self.operand()
        while self.accept("^"):
            base = ("^", base, ("negate", self.operand()) if self.accept("-") else self.operand())
        return base

    def operand(self):
        kind, text = self.peek()
        if kind == "number":
            return ("number", float(self.take()[1]))
        if kind == "text":
            return ("text", self.take()[1][1:-1].replace('\\"', '"'))
        if kind == "variable":
            return self.variable()
        if kind == "metric":
            return self.metric()
        if kind == "name":
            return self.named()
        if text == "{":
            return self.block()
        if self.accept("("):
            inner = self.expression()
            self.expect(")")
            return inner
        self.expect("|")
        inner = self.expression()
        self.expect("|")
        return ("call", "abs", [inner])

    def variable(self):
        name = self.take()[1].strip("${} \n\t")
        index = ("number", 0.0)
        if self.accept("["):
            index = self.expression()
            self.expect("]")
        return ("variable", name, index)

    def metric(self):
        text = self.take()[1]
        if text.startswith("cube::metric::get::"):
            self.expect("(")
            prop = self.operand()
            self.expect(")")
            return ("get", text.rsplit("::", 1)[1], prop)
        parts = text.split("::")[1:]
        flavours = []
        self.expect("(")
        while not self.accept(")"):
            taken = self.take()[1]
            if taken != ",":
                flavours.append(taken)
        fixed = parts[0] == "fixed" and len(parts) > 1 and flavours[1:] in ([], ["*"])
        return ("metric", parts[-1], flavours[0] if flavours else "*",
                ("locations" if flavours else "program") if fixed else "")

    def named(self):
        name = self.take()[1]
        if name in ("arg1", "arg2"):
            return ("argument", name)
        if name in ("true", "false"):
            return ("number", float(name == "true"))
        self.expect("(")
        if name in ("sizeof", "defined"):
            operand = self.take()[1].strip("${} ")
            self.expect(")")
            return (name, operand)
        operands = [self.expression()]
        while self.accept(","):
            operands.append(self.expression())
        self.expect(")")
        return ("call", name, operands)

    def block(self):
        statements = []
        self.expect("{")
        while not self.accept("}"):
            if not self.accept(";"):
                statements.append(self.statement())
        return ("block", statements)

    def statement(self):
        kind, text = self.peek()
        if kind == "variable":
            target = self.variable()
            self.expect("=")
            return ("assign", target, self.expression())
        if kind == "metric":
            return self.metric_statement()
        self.take()
        if text == "return":
            return ("return", self.expression())
        if text == "if":
            return self.choice()
        if text == "while":
            return ("while", self.condition(), self.block())
        if text in ("global", "local"):
            self.expect("(")
            name = self.take()[1].strip("${} ")
            self.expect(")")
            return (text, name)
        raise CubePLError(f"expected a statement, found {text!r}")

    def choice(self):
        branches = [(self.condition(), self.block())]
        otherwise = ("block", [])
        while self.peek()[1] in ("elseif", "else"):
            if self.take()[1] == "else":
                otherwise = self.block()
                break
            branches.append((self.condition(), self.block()))
        return ("if", branches, otherwise)

    def condition(self):
        self.expect("(")
        condition = self.expression()
        self.expect(")")
        return condition

    def metric_statement(self):
        text = self.take()[1]
        name = text.rsplit("::", 1)[1]
        self.expect("(")
        if text.startswith("cube::metric::set::"):
            prop = self.operand()
            self.expect(",")
            value = self.expression()
            self.expect(")")
            return ("set", name, prop, value)
        flavour = "e" if self.peek()[1] == ")" else self.take()[1]
        self.expect(")")
        self.expect("<<")
        kind = "POSTDERIVED" if "postderived" in text else f"PREDERIVED_{'IN' if flavour == 'i' else 'EX'}CLUSIVE"
        self.defined.append((name, kind, self.expression()))
        self.accept(";")
        self.expect(">>")
        return ("nothing",)


class _Return(Exception):
    def __init__(self, value):
        super().__init__()
        self.value = value


def number(value):
    """Returns a value as a number: that at the begin of a text, or 0."""
    if isinstance(value, str):
        match = re.match(r"\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", value)
        return float(match[0]) if match else 0.0
    return 0.0 if value is None else float(value)


def text(value):
    """Returns a value as a text: of a number at most 14 digits."""
    if isinstance(value, str):
        return value
    return "" if value is None else f"{value:.14g}"


class Evaluation:
    """One evaluation of a program. `world` gives metrics, predefined variables and globals."""

    def __init__(self, world, place, arguments=None):
        self.world, self.place, self.arguments, self.locals = world, place, arguments or {}, {}

    def run(self, tree):
        return self.value(tree)

    def value(self, tree):
        return getattr(self, "_" + _METHODS.get(tree[0], "binary"))(tree)

    def _number(self, tree):
        return tree[1]

    _text = _number

    def _argument(self, tree):
        return self.arguments[tree[1]]

    def _index(self, tree):
        """Returns nothing for an index that no variable can have."""
        index = number(self.value(tree))
        return int(index) if -1 < index < _MOST_INDICES else None

    def _variable(self, tree):
        name, index = tree[1], self._index(tree[2])
        if index is None:
            return None
        if self.world.is_predefined(name):
            return self.world.predefined(name, index, self.place)
        return self._array(name).get(index)

    def _array(self, name):
        if name in self.world.globals:
            if self.world.initialising:
                return self.world.globals[name]
            return self.locals.get(name, self.world.globals[name])
        return self.locals.setdefault(name, {})

    def _metric(self, tree):
        return self.world.metric(tree[1], tree[2], tree[3], self.place)

    def _get(self, tree):
        return self.world.property(tree[1], text(self.value(tree[2])))

    def _not(self, tree):
        return float(number(self.value(tree[1])) == 0)

    def _negate(self, tree):
        return -number(self.value(tree[1]))

    def _matches(self, tree):
        return float(tree[2].search(text(self.value(tree[1]))) is not None)

    def _sizeof(self, tree):
        if self.world.is_predefined(tree[1]):
            return float(self.world.predefined_size(tree[1]))
        return float(max(self._array(tree[1]), default=-1) + 1)

    def _defined(self, tree):
        return float(self.world.is_predefined(tree[1]) or bool(self._array(tree[1])))

    def _call(self, tree):
        operands = [self.value(operand) for operand in tree[2]]
        if tree[1] == "env":
            return os.environ.get(text(operands[0]), "")
        if tree[1] in ("lowercase", "uppercase"):
            return getattr(text(operands[0]), tree[1][:5])()
        try:
            return float(_FUNCTIONS[tree[1]](*(number(operand) for operand in operands)))
        except (ValueError, OverflowError):
            return math.nan

    def _binary(self, tree):
        operator, left = tree[0], self.value(tree[1])
        if operator == "and" and number(left) == 0:
            return 0.0
        if operator == "or" and number(left) != 0:
            return 1.0
        right = self.value(tree[2])
        if operator == "eq":
            return float(text(left) == text(right))
        if operator == "seq":
            return float(text(left).lower() == text(right).lower())
        return _binary(operator, number(left), number(right))

    def _block(self, tree):
        try:
            self.execute(tree)
        except _Return as returned:
            return returned.value
        return 0.0

    def execute(self, block):
        for statement in block[1]:
            kind = statement[0]
            if kind == "return":
                raise _Return(self.value(statement[1]))
            if kind == "assign":
                self.assign(*statement[1:])
            elif kind == "if":
                chosen = next((body for condition, body in statement[1] if number(self.value(condition)) != 0),
                              statement[2])
                self.execute(chosen)
            elif kind == "while":
                while number(self.value(statement[1])) != 0:
                    self.execute(statement[2])
            elif kind == "global" and self.world.initialising:
                self.world.globals.setdefault(statement[1], {})
            elif kind == "set":
                self.world.set_property(statement[1], text(self.value(statement[2])), text(self.value(statement[3])))

    def assign(self, target, tree):
        value = self.value(tree)
        value = 0.0 if value is None else value
        name, index = target[1], self._index(target[2])
        if index is None:
            raise CubePLError("an index that no variable can have")
        if name in self.world.globals and not self.world.initialising:  # a copy, for this evaluation
            self.locals.setdefault(name, dict(self.world.globals[name]))
        self._array(name)[index] = value


_METHODS = {"number": "number", "text": "text", "argument": "argument", "variable": "variable", "metric": "metric",
            "get": "get", "not": "not", "negate": "negate", "=~": "matches", "sizeof": "sizeof", "defined": "defined",
            "call": "call", "block": "block"}


def _binary(operator, a, b):
    if operator in ("and", "or", "xor"):
        a, b = a != 0, b != 0
        return float(a and b if operator == "and" else a or b if operator == "or" else a != b)
    if operator == "/":
        return a / b if b != 0 else 0.0
    if operator == "*":
        return a * b + 0.0 if a != 0 and b != 0 else 0.0
    if operator == "^":
        try:
            result = a ** b
        except (OverflowError, ZeroDivisionError):
            return math.inf
        return math.nan if isinstance(result, complex) else result
    compare = {"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b, "==": a == b, "!=": a != b, "+": a + b, "-": a - b}
    return float(compare[operator])
