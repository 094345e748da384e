"""f-strings, formatting, string building."""

# ruff: noqa: F541 (odd code is the point here)


class _Formatted:
    def __format__(self, spec):
        return f"<{spec}>"

    def __repr__(self):
        return "R"

    def __str__(self):
        return "S"


def plain():
    name, n = "x", 3
    return f"{name} = {n}", f"{n}", f"{{literal}}", f"", f"no fields"


def conversions():
    v = _Formatted()
    return f"{v}", f"{v!s}", f"{v!r}", f"{v!a}", f"{'ü'!a}", f"{'q'!r}"


def specs():
    x, w = 3.14159, 8
    return f"{x:.2f}", f"{x:{w}.3f}", f"{w:04d}", f"{w:>{w}}", f"{_Formatted():abc}", f"{x!r:>12}", f"{'a'!s:^5}"


def debug_form():
    value = [1, 2]
    return f"{value=}", f"{value = }", f"{len(value)=:03d}"


def nested_and_multiline():
    d = {"k": "v"}
    return f"{d['k']!r:{'>'}{5}} and {' '.join(f'<{c}>' for c in 'ab')}{1}{2}tail"


def empty_spec():
    return f"{5:}", f"{'a':}"


def percent_and_format():
    return "%s-%d-%r" % ("a", 3, "b"), "{0} {k!r} {1:>4}".format(1, 2, k="z"), "%(a)s" % {"a": 1}


def lambda_inside():
    return f"{(lambda x: x * 2)(3)}", f"{[i for i in range(3)]}", f"{ {'a': 1}['a'] }"


def concatenation_in_a_loop():
    out = ""
    for i, c in enumerate("abc"):
        out += f"{i}{c};"
    return out


def error_bad_spec():
    return f"{'a':d}"


def error_in_format():
    class Bad:
        def __format__(self, spec):
            raise ValueError(f"bad {spec}")

    return f"{Bad():xy}"
