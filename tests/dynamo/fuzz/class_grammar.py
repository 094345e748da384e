"""Rows about classes, containers with methods of their own, functools and a module; see `grammar.py`."""

CLASS_EXPRESSIONS: dict[str, dict[str, float]] = {
    "tensor": {
        "counting(<tensor>)": 0.7, "wrapped(<tensor>)": 0.4, "wrapped(<tensor>, k=<int>)": 0.3, "halved(<tensor>)": 0.4,
        "scaled(<tensor>)": 0.6, "scaled(<tensor>, plus=<int>)": 0.3, "adds(<tensor>)": 0.7, "lib.stretch(<tensor>)": 1,
        "lib.maybe(<tensor>)": 0.7, "Made(<TENSOR>, <int>).bump(<int>)": 0.4, "Narrow(<TENSOR>).bump()": 0.3,
        "Lazy(<TENSOR>).bump()": 0.3, "Square(<TENSOR>).area()": 0.3, "(<tensor> * Number(<3>))": 0.2,
        "(<tensor> * Colour.RED.shade())": 0.2, "(<tensor> + Mode.FAST)": 0.1, "(<tensor> + int(limit.dim()))": 0.1,
        "(<tensor> * len(Made))": 0.2, "functools.reduce(torch.add, [<tensor>, <tensor>])": 0.2,
        "dataclasses.replace(Point(<TENSOR>), n=<int>).bump()": 0.2, "torch.abs(<tensor>)": 0.3, "abs(<tensor>)": 0.3,
        "<tensor>.tanh()": 0.3, "torch.full((2, 2), <int>) * <tensor>": 0.1, "<TENSOR>.as_strided((2,), (1,))": 0.2,
        "(<tensor> * <TENSOR>.storage_offset())": 0.2, "(<tensor> * <TENSOR>.stride(0))": 0.2,
    },
    "int": {
        "cached(<int>)": 0.7, "describe(<INT>)": 0.4, "describe(<LIST>)": 0.4, "len(Made)": 0.2, "Made.made": 0.4,
        "Made.serial": 0.4, "Made.next_number()": 0.5, "Derived.next_number()": 0.2,
        "getattr(counting, 'calls', 0)": 0.5,
        "Colour.BLUE.value": 0.2, "getattr(Made, 'absent', <int>)": 0.5, "getattr(type(<BOX>), 'depth', 4)": 0.5,
        "cached.cache_info().misses": 0.2, "lib.scale": 0.4, "getattr(lib, 'extra', 3)": 0.5,
        "lib.absolute(-<INT>)": 0.3,
        "(Number(<3>) + <int>)": 0.2, "Defaults(list).get('k', 2)": 0.1, "Tally('aab')['z']": 0.2,
        "getattr(helper, 'tag', 1)": 0.3, "int(Mode.FAST | Mode.SAFE)": 0.1, "len(Point.__dataclass_fields__)": 0.1,
        "getattr(Colour, 'GREEN', Colour.RED).value": 0.3, "Counting(k=1).get('z')": 0.2, "<DICT>.get('none', 4)": 0.3,
        "scaled.__defaults__[0]": 0.2, "getattr(<TENSOR>, 'tag', 2) * 0": 0.2, "len(inner_names())": 0.05,
    },
    "condition": {
        "hasattr(<BOX>, 'other')": 0.7, "hasattr(Made, 'absent')": 0.5, "hasattr(counting, 'tag')": 0.5,
        "hasattr(lib, 'extra')": 0.5, "isinstance(<BOX>, Shape)": 0.5, "issubclass(type(<BOX>), Shape)": 0.3,
        "Ranked(<int>) < Ranked(<int>)": 0.2, "Ranked(<int>) >= Ranked(1)": 0.2, "<int> in Made": 0.3,
        "isinstance(<BOX>, Made)": 0.3, "hasattr(<TENSOR>, 'tag')": 0.3, "'k' in Ordered()": 0.1,
        "bool(Number(1))": 0.1,
        "Colour.RED is Colour(1)": 0.1, "hasattr(type(<BOX>), '__len__')": 0.3, "net.training": 0.4,
        "torch.get_default_dtype() == torch.float32": 0.3, "<TENSOR>.is_contiguous()": 0.3, "Made.label == 'made'": 0.1,
        "<TENSOR>.dtype == torch.float32": 0.3, "<BOX> == <BOX>": 0.2, "bool(<BOX>)": 0.3, "'a' in lib.names": 0.2,
        "<TENSOR>._version > <3>": 0.1, "callable(<BOX>)": 0.2,
    },
    "item": {
        "careful(<BOX>)": 0.7, "careful(Made)": 0.3, "careful(counting)": 0.3, "Colour.RED": 0.2,
        "Word('w').upper()": 0.2,
        "Word('w') + 'x'": 0.1, "Ranked(<int>)": 0.2, "cached.cache_info()": 0.2, "type(<BOX>).__name__": 0.2,
        "dataclasses.asdict(Point(<int>, <int>))": 0.1, "lib.names": 0.2, "vars(Made).get('absent')": 0.2,
        "Mode.FAST": 0.1,
        "[m.name for m in Colour]": 0.2, "sorted([Ranked(2), Ranked(1)])[0].n": 0.2, "Made.__dict__.get('number')": 0.2,
    },
    "list": {
        "Logged(<LIST>)": 0.7, "Logged([<item>])": 0.7, "lib.names": 0.3, "[*Logged([<int>])]": 0.3,
        "list(Counting(k=<item>))": 0.2, "[q for q in Logged([1])]": 0.2, "sorted(Tally('aab'))": 0.1,
    },
    "dict": {
        "Counting(k=<item>)": 0.7, "Counting(<DICT>)": 0.4, "Ordered(k=<item>, b=1)": 0.5, "Defaults(list)": 0.4,
        "Tally('aab')": 0.4, "Made.cache": 0.4, "{**Counting(a=<int>)}": 0.2, "dict(Ordered(a=1))": 0.2,
    },
    "box": {
        "Made(<tensor>, <int>)": 1, "Derived(<tensor>)": 0.6, "Narrow(<tensor>, <int>)": 0.6, "Point(<tensor>)": 0.7,
        "Lazy(<tensor>)": 0.6, "Square(<tensor>)": 0.6,
    },
    "function": {
        "counting": 0.3, "functools.partial(scaled, by=<int>)": 0.5, "wrapped": 0.3, "adds": 0.4, "lib.stretch": 0.3,
        "functools.wraps(helper)(lambda q: q + 1)": 0.2, "traced(<FUNCTION>)": 0.3,
    },
}  # fmt: skip

CLASS_STATEMENTS: dict[str, float] = {
    "history.append(careful(<BOX>))": 1, "<BOX>.remember(<int>)": 0.4, "Made.cache[<key>] = <int>": 0.5,
    "Made.serial += 1": 0.4, "Made.known = (<int>, 1)": 0.3, "counting.tag = <int>": 0.4, "Made.absent = <int>": 0.3,
    "if hasattr(Made, 'absent'): del Made.absent": 0.3, "type(<BOX>).depth = <int>": 0.3, "lib.scale = <int>": 0.4,
    "lib.names.append(<int>)": 0.4, "lib.extra = <int>": 0.3, "<BOX>.other = <item>": 0.5, "cached.cache_clear()": 0.2,
    "history.append(cached(<int>))": 0.5, "<DICT>['new'] = <item>": 0.4, "history.append(<DICT>['absent'])": 0.3,
    "if 'bonus' not in vars(lib): lib.bonus = 1": 0.2, "<BOX>.doubled": 0.3, "Shape.register(Box)": 0.05,
    "history.append([m for m in Colour])": 0.1, "<LIST>.append(Logged([<int>])[0])": 0.3,
    "for key, value in Counting(a=1).items(): history.append((key, value))": 0.2,
    "history.append(describe(<item>))": 0.3, "describe.register(str, lambda value: 3)": 0.1, "<BOX>.area()": 0.2,
    "counting.calls = getattr(counting, 'calls', 5) * 2": 0.3, "<BOX>.missing = 1": 0.2, "net.eval()": 0.1,
    "net.train()": 0.1, "net.calls += 1": 0.2, "Made.ids = {**getattr(Made, 'ids', {}), <int>: 1}": 0.3,
    "scaled.__defaults__ = (<int>,)": 0.1, "setattr(Made, 'late', <int>)": 0.2, "vars(<BOX>)['other'] = <int>": 0.2,
}  # fmt: skip

CLASS_BLOCKS: dict[str, float] = {
    "try:\n<block>\n    raise ExceptionGroup('g', [ValueError(<int>), KeyError('k')])\nexcept* ValueError as e:\n"
    "<block>\nexcept* KeyError:\n<block>": 0.3,
    "try:\n    history.append(<BOX>.missing)\nexcept AttributeError:\n<block>": 0.5,
    "try:\n    <new any> = lib.extra\nexcept AttributeError:\n<block>": 0.3,
    "try:\n    <new any> = Colour[<key>]\nexcept KeyError:\n<block>": 0.2,
    "match <BOX>:\n    case Point(a=q, n=0):\n<inner block>\n    case Made(n=m):\n<inner block>\n    case _:\n"
    "<inner block>": 0.3,
}  # fmt: skip
