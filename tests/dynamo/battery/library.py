"""The standard library's own Python code, as a load of ordinary programs that nobody wrote for this purpose."""

import ast
import collections
import contextlib
import copy
import difflib
import fractions
import heapq
import html
import io
import json
import pprint
import random
import re
import shlex
import statistics
import string
import textwrap
import tokenize


def diff_of_texts():
    a, b = "one\ntwo\nthree\nfour".split("\n"), "one\n2\nthree\nfive\nfour".split("\n")
    matcher = difflib.SequenceMatcher(None, "abxcd", "abcd")
    return list(difflib.unified_diff(a, b, lineterm="")), matcher.ratio(), matcher.get_opcodes()


def wrapped_text():
    text = "The quick brown fox jumps over the lazy dog, again and again, until it is-tired."
    return (
        textwrap.wrap(text, 20),
        textwrap.indent("a\nb", "> "),
        textwrap.dedent("    x\n      y\n"),
        textwrap.shorten(text, 30),
    )


def json_in_python():
    data = {"a": [1, 2.5, None, True], "b": {"c": "x\ny"}}
    encoder = json.JSONEncoder(indent=2, sort_keys=True)
    return "".join(encoder.iterencode(data)), json.loads('{"k": [1, {"z": "\\u00e9"}]}')


def regular_expressions():
    pattern = re.compile(r"(?P<key>\w+)\s*=\s*(?P<value>[^;]+?)\s*;(?#comment)")
    return [m.groupdict() for m in pattern.finditer("a = 1; bc=two ;")], re.sub(r"\d+", lambda m: f"<{m[0]}>", "a1b22")


def fractions_and_statistics():
    xs = [fractions.Fraction(1, n) for n in range(1, 6)]
    return str(sum(xs)), str(max(xs) ** 2 / 3), statistics.median([3, 1, 2, 10]), statistics.pstdev([1, 2, 3, 4])


def parsed_and_unparsed_source():
    tree = ast.parse("def f(x, *a, k=1):\n    return [y for y in x if y > k] + {**a[0]}['b']\n")
    names = sorted({node.id for node in ast.walk(tree) if isinstance(node, ast.Name)})
    return ast.unparse(tree), names, ast.literal_eval("{'a': (1, [2])}")


def tokens_of_a_line():
    return [t.string for t in tokenize.generate_tokens(io.StringIO("x = f(1)  # note\n").readline)]


def merged_and_ranked():
    return list(heapq.merge([1, 4, 7], [2, 5], [0, 9])), heapq.nlargest(2, [5, 1, 8, 3], key=lambda x: -x)


def collections_of_all_kinds():
    Point = collections.namedtuple("Point", "x y", defaults=[0])
    chain = collections.ChainMap({"a": 1}, {"a": 2, "b": 3})
    ordered = collections.OrderedDict(a=1, b=2)
    ordered.move_to_end("a")
    counter = collections.Counter("abca") - collections.Counter("ab")
    return (
        Point(1),
        Point(1, 2)._replace(x=5),
        dict(chain),
        list(ordered),
        dict(counter),
        collections.UserList([1]) + [2],
    )


def deep_copies():
    class Node:
        def __init__(self, value):
            self.value, self.links = value, []

        def __deepcopy__(self, memo):
            clone = Node(copy.deepcopy(self.value, memo))
            memo[id(self)] = clone
            clone.links = copy.deepcopy(self.links, memo)
            return clone

    a, b = Node([1]), Node({"k": (2,)})
    a.links, b.links = [b], [a, b]
    c = copy.deepcopy(a)
    return c is not a, c.links[0].links[0] is c, c.value, c.links[0].value, copy.copy([1, [2]])


def pretty_printed():
    return pprint.pformat({"key%d" % i: list(range(i)) for i in range(12)}, width=40)


def templates_and_quotes():
    template = string.Template("$who likes ${what}s, $$5")
    formatter = string.Formatter()
    return (
        template.substitute(who="tim", what="spam"),
        formatter.format("{0!r:>5}|{k[a]}", "x", k={"a": 1}),
        shlex.split('a \'b c\' "d\\"e" f#g'),
        html.unescape("&lt;&amp;&#65;"),
        string.capwords("ab cd"),
    )


def redirected_output():
    buffer = io.StringIO()
    with contextlib.redirect_stdout(buffer):
        print("inside", end="|")
    with contextlib.closing(io.StringIO("closed")) as stream, contextlib.nullcontext(5) as five:
        text = stream.read()
    return buffer.getvalue(), text, stream.closed, five


def seeded_random():
    r = random.Random(7)
    xs = list(range(10))
    r.shuffle(xs)
    return xs, r.choice("abc"), r.sample(range(100), 3), round(r.gauss(0, 1), 6), r.randint(1, 6)


def init_again():
    items, shared = [1, 2, 3], [1, 2]
    items.__init__((4, 5))
    shared.__init__(shared)
    items.__init__()
    items += [6]
    return items, shared


def a_copy_of_what_can_not_change_is_itself():
    few = frozenset([1, 2])
    return frozenset(few) is few, few.copy() is few, few.union() is few, tuple(t := (1, 2)) is t


def kinds_of_reversed():
    return [type(reversed(x)).__name__ for x in ([1], (1,), "a", range(3), {1: 2}, {1: 2}.items())]
