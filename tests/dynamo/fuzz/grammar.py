"""The language of the random programs, as tables of templates with their weights.

In a template `<tensor>` stands for a random expression of that kind, `<TENSOR>` for a variable of it, `<new tensor>`
for a fresh variable that later statements may use, `<OWN TENSOR>` for one that may be assigned to, `<3>` for a number
below 3, and a line `<block>`, `<loop>`, `<body>` or `<generator>` for indented statements: of an ordinary block, of a
loop, of a function with a parameter `q`, of a generator function.
"""

KINDS = ("tensor", "int", "list", "dict", "box", "set", "function", "maker", "iterator", "any")

EXPRESSIONS: dict[str, dict[str, float]] = {
    "tensor": {
        "(<tensor> + <tensor>)": 2, "(<tensor> * <tensor>)": 2, "(<tensor> - <tensor>)": 1, "torch.sin(<tensor>)": 1,
        "<tensor>.relu()": 1, "(<tensor> * <int>)": 2, "(1.5 - <tensor>)": 1, "helper(<tensor>, <int>)": 1,
        "helper(<tensor>, 3, <tensor>, scale=0.5, q=<int>)": 0.5, "helper(*[<tensor>, <int>], **{'scale': 2})": 0.5,
        "torch.where(<tensor> > 0.5, <tensor>, <tensor>)": 1, "<BOX>.twice": 1, "<BOX>.bump()": 1,
        "<BOX>.bump(<int>)": 0.5, "<BOX>.a": 1, "Box.half(<tensor>)": 0.3, "<tensor>.t().t()": 0.5,
        "<tensor>.contiguous()": 0.7, "<tensor>.view(-1).view(<TENSOR>.shape)": 0.7, "<tensor>.detach()": 0.7,
        "<tensor>.clone()": 0.5, "sum([<tensor>, <tensor>])": 0.5, "(lambda q: q + <tensor>)(<int>)": 0.5,
        "(<tensor> if <condition> else <tensor>)": 1, "torch.stack(list(numbers(<tensor>, 2))).sum(0)": 0.5,
        "max([<tensor>, <tensor>], key=lambda q: 1)": 0.3, "torch.rand(2, 2)": 0.5, "torch.rand_like(<TENSOR>)": 0.3,
        "net(<tensor>)": 0.4, "nn.functional.dropout(<tensor>, 0.5)": 0.3, "noisy(<tensor>)": 0.3, "<TENSOR>[<3>]": 0.5,
        "<TENSOR>[:, <2>:]": 0.3, "<TENSOR>[torch.tensor([0, <4>])]": 0.5, "<TENSOR>[1:]": 0.3,
        "torch.index_select(<TENSOR>, 0, torch.tensor([<3>]))": 0.2, "<FUNCTION>(<tensor>)": 1.5,
        "next(<ITERATOR>, <tensor>)": 0.7, "decorated(<tensor>)": 0.3, "decorated(<tensor>, by=<int>)": 0.2,
        "<BOX>(<tensor>, 1, k=2)": 0.3, "(<tensor> + <BOX>)": 0.2, "<LIST>[<3>]": 0.3, "<DICT>['k']": 0.3, "limit": 0.3,
        "(<tensor> * <float>)": 1, "(<tensor> + <float>)": 0.5, "(<float> - <tensor>)": 0.3,
        "(<tensor> / <float>)": 0.2, "torch.add(<tensor>, <tensor>, alpha=<float>)": 0.3,
        "<tensor>.clamp(max=<float>)": 0.3, "torch.full((2, 2), <float>)": 0.3,
        "nn.functional.leaky_relu(<tensor>, <float>)": 0.3, "torch.where(<tensor> > <float>, <tensor>, <float>)": 0.3,
        "torch.lerp(<tensor>, <tensor>, <float>)": 0.2, "<TENSOR>.grad": 0.1, "(z := <tensor>)": 0.2,
        "torch.cat([<TENSOR>, <TENSOR>])": 0.2, "<tensor>.sum(0)": 0.3,
    },
    "int": {
        "<INT>": 3, "<5>": 3, "len(<LIST>)": 1, "counter": 1, "cell": 1, "<BOX>.n": 1, "<TENSOR>.shape[0]": 0.7,
        "(<INT> + 1)": 1, "len(<BOX>)": 0.5, "len(rest)": 0.2, "<TENSOR>.dim()": 0.2, "Box.count(<int>)": 0.3,
        "(<INT> % 3)": 0.5, "random.randint(0, 3)": 0.3, "abs(-<INT>)": 0.2, "len(late)": 0.4, "sum(range(<4>))": 0.2,
        "(<INT> if <condition> else <5>)": 0.3, "<DICT>.get('k', 1)": 0.2, "int(<INT> > 1)": 0.2,
        "int(<TENSOR>.sum().item())": 0.15, "len(<SET>)": 0.4, "<LIST>.count(1)": 0.2, "net.calls": 0.2,
        "int(<float>)": 0.3, "math.floor(<float>)": 0.2, "round(<float>)": 0.2,
        "getattr(<BOX>, 'n', 5)": 0.2, "getattr(<BOX>, 'extra', 5)": 0.2, "<INT> // <int>": 0.15,
    },
    "float": {
        "rate": 5, "<FLOAT>": 2, "table['lr']": 1, "getattr(<BOX>, 'rate', 0.5)": 1, "(<float> * 2 + 1)": 0.7,
        "(<float> / 3)": 0.5, "(1 / <float>)": 0.3, "(-<float>)": 0.5, "abs(<float>)": 0.5, "(<float> ** 2)": 0.3,
        "(2 ** <float>)": 0.2, "(<float> % 0.75)": 0.3, "(<float> // 0.5)": 0.3, "max(<float>, 0.5)": 0.3,
        "min(<float>, <int>)": 0.3, "(<float> * <int>)": 0.4, "math.sqrt(abs(<float>))": 0.4, "math.exp(-<float>)": 0.3,
        "math.sin(<float>)": 0.3, "math.log(<float>)": 0.2, "round(<float>, 1)": 0.3, "float(<int>)": 0.2,
        "(<float> if <condition> else 0.5)": 0.3, "(<float> - <float>)": 0.3, "float(f'{<float>}')": 0.1,
        "(<TENSOR>.shape[0] * <float>)": 0.2, "float('inf')": 0.05,
    },
    "condition": {
        "<float> > 0.5": 0.7, "<float> == 0.25": 0.3, "math.isfinite(<float>)": 0.1, "<float>": 0.2,
        "<int> > <3>": 3, "<int> == <int>": 2, "'k' in <DICT>": 1, "<TENSOR> is <TENSOR>": 1,
        "hasattr(<BOX>, 'extra')": 0.7, "not <LIST>": 1, "<TENSOR> is None": 0.3, "<LIST> is <LIST>": 0.7,
        "<BOX>.kind == 'box'": 0.5, "<LIST> == <LIST>": 0.2, "<BOX>.a is <TENSOR>": 0.5, "<3> in <LIST>": 0.3,
        "<int> <= n and <BOX>.n": 0.5, "isinstance(<BOX>, Loud)": 0.3, "<3> in <SET>": 0.4, "<BOX> is <BOX>": 0.4,
        "<BOX>.log is <LIST>": 0.4, "<TENSOR>.requires_grad": 0.4, "torch.is_grad_enabled()": 0.2,
        "<TENSOR>.sum() > <3>": 0.25, "bool((<TENSOR> > 0.3).all())": 0.1, "callable(<FUNCTION>)": 0.1,
        "any(q is <TENSOR> for q in <LIST>)": 0.2, "<3> in <BOX>": 0.1, "<TENSOR>.shape == <TENSOR>.shape": 0.2,
    },
    "item": {
        "<tensor>": 3, "<int>": 3, "[<int>]": 1, "(<tensor>, <int>)": 1, "<LIST>": 1, "<BOX>": 1, "Box(<tensor>)": 1,
        "<TENSOR>": 2, "{'t': <TENSOR>}": 0.5, "'text'": 0.5, "<FUNCTION>": 0.3, "<DICT>": 0.5, "<SET>": 0.2,
        "<float>": 0.7, "f'{<float>} {<float>:.2f}'": 0.2, "[<float>, <float>]": 0.2, "torch.tensor(<float>)": 0.2,
        "lambda q=<item>: q": 0.3, "Slim(<TENSOR>)": 0.3, "Asking(<int>)": 0.3, "f'{int(n)} {n:>3}'": 0.2,
        "frozenset([<int>, <int>])": 0.1, "<BOX>.bump": 0.2, "<LIST>.append": 0.1, "weakref.ref(<BOX>)": 0.05,
        "<ITERATOR>": 0.2, "(<int>, <LIST>)": 0.3, "<TENSOR>.view(-1)": 0.3, "None": 0.3, "torch.Size([<3>])": 0.1,
        "<LIST>[-1:]": 0.2, "[*<LIST>, <int>]": 0.2, "Dying(<LIST>)": 0.1, "type(<BOX>)": 0.1,
    },
    "key": {"'k'": 3, "'a'": 2, "'b'": 1, "<3>": 2, "(1, 2)": 1, "<INT>": 1, "(<INT>, 'k')": 0.5, "Box": 0.2},
    "list": {
        "<LIST>": 3, "[]": 1, "[1, <TENSOR>]": 1, "[q for q in range(n)]": 0.5, "list(<LIST>)": 1, "[<item>]": 1,
        "<LIST> + [<int>]": 0.7, "[*<LIST>, 1]": 0.5, "<BOX>.log": 1, "late": 1, "kept": 1, "history": 0.5,
        "collect(<item>)": 1, "sorted([<int>, <int>, 1])": 0.4, "<LIST>[1:]": 0.4, "<LIST>[::-1]": 0.3,
        "[q * 2 for q in (<TENSOR>, <int>) if q is not None]": 0.3, "list(<DICT>)": 0.3, "<LIST>.copy()": 0.2,
        "list(zip(<LIST>, 'ab'))": 0.2, "list(map(lambda q: (q, <int>), <LIST>))": 0.2, "[[<int>]] * 2": 0.2,
        "collections.deque(<LIST>)": 0.4, "list(reversed(<LIST>))": 0.2, "Box.shared": 0.2, "list(<SET>)[:0]": 0.1,
        "<LIST> * 2": 0.2, "[(i, q) for i, q in enumerate(<LIST>)]": 0.2,
    },
    "dict": {
        "<DICT>": 3, "dict(<DICT>, z=<item>)": 1, "{**<DICT>, <key>: <item>}": 1, "{q: <int> for q in 'ab'}": 0.5,
        "table": 0.5, "<BOX>.__dict__": 0.2, "named": 0.5, "collections.defaultdict(list)": 0.5,
        "collections.OrderedDict(a=<item>)": 0.5, "{<key>: <item>, <key>: <item>}": 1, "<DICT> | {'w': <int>}": 0.2,
        "dict(zip('abc', <LIST>))": 0.2, "<DICT>.copy()": 0.3, "dict.fromkeys('xy', <LIST>)": 0.2,
    },
    "box": {
        "<BOX>": 2, "Box(<tensor>, n=<int>)": 3, "Loud(<tensor>)": 1, "Slim(<tensor>, <int>)": 0.7,
        "<BOX> + <BOX>": 0.5, "type(<BOX>)(<tensor>)": 0.3, "Asking(<int>)": 0.3, "Guarded(<LIST>, True)": 0.3,
        "<BOX> + <tensor>": 0.2,
    },
    "set": {
        "<SET>": 1, "{<int>, <int>}": 2, "set(<LIST>)": 0.3, "{q % 2 for q in range(4)}": 0.3, "<SET> | {7}": 0.5,
        "set()": 0.5, "<SET> & {1, 2}": 0.3, "set(<DICT>)": 0.2,
    },
    "function": {
        "<FUNCTION>": 1, "lambda q: q * <int>": 1, "helper": 0.5, "<BOX>.bump": 0.3,
        "(lambda q, c=<LIST>: c.append(q))": 0.5, "counted(<FUNCTION>)": 0.7, "net": 0.2, "<BOX>": 0.3, "noisy": 0.2,
        "lambda q: (<TENSOR>, <INT>)[0] + q": 0.7,
    },
    "maker": {"numbers": 1},
    "iterator": {
        "<ITERATOR>": 1, "iter(<LIST>)": 1.5, "numbers(<tensor>, <3>)": 1.5, "enumerate(<LIST>)": 0.7,
        "zip(<LIST>, range(<3>))": 0.7, "(q for q in <LIST>)": 1, "map(<FUNCTION>, [<tensor>])": 0.7,
        "iter(<DICT>)": 0.5, "delegating(<tensor>, <3>)": 0.5, "reversed(<LIST>)": 0.3, "<MAKER>(<tensor>, <3>)": 1,
        "iter('abc')": 0.2, "iter(range(<4>))": 0.3, "filter(None, <LIST>)": 0.3,
        "(q * <INT> for q in (<tensor>, 2))": 0.7, "iter(<DICT>.items())": 0.3,
    },
    "any": {"<item>": 1},
    "iterable": {
        "range(<4>)": 2, "[1, <TENSOR>]": 1, "enumerate(<LIST>[:2])": 1, "zip('ab', (1, 2))": 1,
        "numbers(<tensor>, <3>)": 1, "sorted([3, 1])": 0.5, "<LIST>[:3]": 1, "list(<DICT>)[:3]": 0.7, "<ITERATOR>": 0.5,
        "<TENSOR>": 0.2, "<DICT>": 0.3, "list(<DICT>.items())[:2]": 0.3, "reversed([1, 2])": 0.2, "<LIST>": 0.2,
        "sorted(<SET>)": 0.2,
    },
    "error": {
        "ValueError(<int>)": 2, "KeyError('k')": 1, "Mistake(<item>)": 1, "Mistake('m', how=<int>)": 1,
        "StopIteration": 0.3, "RuntimeError": 0.5, "ValueError('text', <int>)": 0.5,
    },
    "wrong": {
        "<LIST>[9]": 1, "<DICT>['missing']": 1, "<TENSOR>.view(77)": 1, "None.foo": 0.5, "int('z')": 0.5,
        "<TENSOR>.nope": 0.5, "next(iter([]))": 0.5, "1 // 0": 0.5, "<TENSOR> @ torch.ones(7)": 0.5, "undefined": 0.3,
        "<LIST>.remove('absent')": 0.5, "fails_after(<LIST>, <TENSOR>)": 1, "<BOX>.absent": 0.5, "len(3)": 0.3,
        "<TENSOR>[torch.tensor([0, 9])]": 1, "<FUNCTION>()": 0.3, "helper()": 0.3, "a, b = <LIST>[:1]": 0.3,
        "torch.linalg.cholesky(-torch.eye(2))": 0.3, "{}[<LIST>]": 0.3, "<TENSOR> + 'a'": 0.3,
        "assert <condition>": 0.5, "<INT>.append": 0.2, "for q in 5: pass": 0.2, "<TENSOR>.add_(torch.ones(5))": 0.3,
        "<DICT>.pop('missing')": 0.3, "torch.nn.functional.embedding(torch.tensor([5]), <TENSOR>)": 0.3,
        "del <INT>, <INT>": 0.1,
    },
}  # fmt: skip

STATEMENTS: dict[str, float] = {
    # names
    "<new tensor> = <tensor>": 5, "<OWN TENSOR> = <tensor>": 4, "<new int> = <int>": 2, "<OWN INT> += 1": 1,
    "<new list> = <list>": 1.5, "<new dict> = <dict>": 1, "<new box> = <box>": 1.5, "<new set> = <set>": 0.7,
    "<new function> = <function>": 0.7, "<new iterator> = <iterator>": 0.8, "<new any> = <item>": 0.5,
    "<new tensor>, <new int> = <tensor>, <int>": 0.5, "<new list> = <new list> = <list>": 0.3,
    "<new tensor> = <new tensor> = <tensor>": 0.3, "<new int>, *<new list> = <INT>, *<LIST>": 0.3,
    "<OWN TENSOR>, <OWN TENSOR> = <TENSOR>, <TENSOR>": 0.3, "del <OWN TENSOR>": 0.1, "<OWN LIST> = <list>": 0.3,
    # lists
    "<LIST>.append(<item>)": 3, "<LIST>.insert(<3>, <item>)": 0.7, "<LIST>.extend([<item>, <int>])": 0.7,
    "<LIST>.reverse()": 0.5, "<OWN LIST> += [<int>]": 0.7, "if <LIST>: <LIST>.pop()": 0.7, "<LIST>.pop(<3>)": 0.3,
    "if <LIST>: <LIST>[0] = <item>": 0.7, "if <LIST>: del <LIST>[-1]": 0.7, "<LIST>[1:1] = [<item>]": 0.5,
    "<LIST>.clear()": 0.2, "<LIST>.remove(1)": 0.3, "<LIST>.sort(key=lambda q: 1)": 0.2, "<LIST>[:] = <LIST>": 0.2,
    "<LIST> .append(<LIST>)": 0.2, "del <LIST>[<2>:]": 0.3, "<LIST>.extend(<LIST>)": 0.3, "<LIST>[::2] = []": 0.1,
    "<OWN LIST> *= 2": 0.1, "<LIST>.extend(list(<ITERATOR>)[:3])": 0.3, "<LIST>.sort()": 0.1,
    "<LIST>[<3>], <LIST>[0] = 1, <item>": 0.2,
    # dicts and sets
    "<DICT>[<key>] = <item>": 2, "<DICT>.pop(<key>, None)": 0.7, "<DICT>.setdefault(<key>, []).append(<item>)": 0.7,
    "<DICT>.update(a=<item>)": 0.7, "for key in list(<DICT>): <DICT>[key] = <int>": 0.3, "del <DICT>[<key>]": 0.5,
    "if <key> in <DICT>: del <DICT>[<key>]": 0.5, "<DICT>.clear()": 0.2, "<DICT>.popitem()": 0.3,
    "<DICT>[<key>] += 1": 0.3, "<DICT>.update(<DICT>)": 0.3, "<DICT>['k'] = <DICT>": 0.2,
    "<OWN DICT> |= {'o': <int>}": 0.2, "for key in <DICT>: <DICT>[key, 1] = <int>": 0.2,
    "for key in <DICT>: <DICT>.pop(key)": 0.15, "<DICT>['k'].append(<item>)": 0.3, "<SET>.add(<int>)": 1,
    "<SET>.discard(<int>)": 0.5, "<SET>.update([<int>, 2])": 0.3, "<OWN SET> |= {<int>}": 0.3,
    "<SET>.remove(<int>)": 0.3, "<SET>.add(<key>)": 0.2, "<SET>.clear()": 0.1,
    "<SET>.pop() if len(<SET>) == 1 else None": 0.1, "<DICT>.setdefault('k', <item>)": 0.3,
    "<DICT>.get('l', <LIST>).append(<item>)": 0.2,
    # objects
    "<BOX>.n += <int>": 1.5, "<BOX>.a = <tensor>": 1.5, "<BOX>.log.append(<item>)": 1, "<BOX>.extra = <item>": 1,
    "<BOX>.bump(<int>)": 0.7, "if hasattr(<BOX>, 'extra'): del <BOX>.extra": 0.5, "<BOX>.log = <list>": 0.5,
    "setattr(<BOX>, 'other', <int>)": 0.4, "<OWN BOX> = <box>": 0.5, "<OWN BOX> += <int>": 0.5,
    "<BOX>.twice = <tensor>": 0.5, "Box.kind = <item>": 0.3, "type(<BOX>).kind = 'bag'": 0.2,
    "Box.shared.append(<item>)": 0.4, "<BOX>[0] = <item>": 0.3, "<BOX>.anything": 0.3,
    "<BOX>.__dict__['n'] = <int>": 0.2, "<BOX>.late = <item>": 0.2, "<BOX>.self = <BOX>": 0.2, "del <BOX>.a": 0.15,
    "<BOX>.a += 1": 0.5, "<BOX>.a.add_(1)": 0.4, "<TENSOR>.tag = <item>": 0.3, "vars(<BOX>).update(v=<int>)": 0.1,
    "<BOX>.log[0]": 0.1, "<BOX>.bump = lambda by=1: <TENSOR>": 0.1, "setattr(<BOX>, 'n', <INT>)": 0.2,
    "delattr(<BOX>, 'n')": 0.1, "object.__setattr__(<BOX>, 'n', <int>)": 0.1,
    # tensors in place
    "<TENSOR>.add_(<int>)": 1, "<OWN TENSOR> += 1": 0.8, "<TENSOR>.mul_(2)": 0.7, "<TENSOR>[0] = <int>": 0.7,
    "<TENSOR>[0, 1] = 5.0": 0.5, "<TENSOR>.copy_(<tensor>)": 0.5, "<TENSOR>[1] = <tensor>[0]": 0.3,
    "<TENSOR>.view(-1).add_(1)": 0.5, "<TENSOR>.t().mul_(<tensor>)": 0.3, "<TENSOR>.detach().add_(1)": 0.3,
    "<TENSOR>.zero_()": 0.3, "<new tensor> = <TENSOR>.view(-1)": 0.4, "<new tensor> = <TENSOR>[0]": 0.4,
    "<new tensor> = <TENSOR>.detach()": 0.4, "<new tensor> = <TENSOR>.t()": 0.3, "<TENSOR>.uniform_()": 0.2,
    "limit.add_(1)": 0.2, "<TENSOR>.data.add_(1)": 0.1, "<TENSOR>.requires_grad_()": 0.1,
    "<TENSOR>.data = <tensor>": 0.05, "<TENSOR>.index_copy_(0, torch.tensor([<3>]), <TENSOR>[:1])": 0.2,
    "<TENSOR>.resize_(1)": 0.03, "<TENSOR>.grad = <TENSOR>": 0.05, "<TENSOR>.sum().backward()": 0.1,
    "torch.manual_seed(<3>)": 0.05, "torch.sin(<TENSOR>, out=<TENSOR>)": 0.1, "<TENSOR>.swap = <TENSOR>": 0.05,
    "torch.nn.init.ones_(<TENSOR>)": 0.1,
    # globals, closures, defaults
    "rate = <float>": 0.5, "rate *= 0.5": 0.5, "<new float> = <float>": 1.5, "table['lr'] = <float>": 0.3,
    "<TENSOR>.mul_(<float>)": 0.2, "<TENSOR>.fill_(<float>)": 0.2, "<BOX>.rate = <float>": 0.3,
    "counter += <int>": 1, "history.append(<item>)": 1, "table['t'] = <tensor>": 0.7, "cell += <int>": 0.8,
    "kept.append(<item>)": 0.8, "late.append(<item>)": 0.8, "collect(<item>)": 0.7, "collect(<item>, <LIST>)": 0.3,
    "random.seed(<3>)": 0.1, "sys.modules[__name__] if False else None": 0.02, "named['w'] = <item>": 0.2,
    "globals()['counter'] = <int>": 0.03, "helper.tag = <item>": 0.1, "collect.__defaults__[0].append(<int>)": 0.1,
    # breaks and what is seen from outside
    "print('n', <int>)": 0.7, "dynamo.graph_break()": 0.8, "print(f'{<TENSOR>.sum().item():.2f}')": 0.3,
    "<new tensor> = noisy(<tensor>)": 0.4, "<new int> = int(<TENSOR>.sum().item())": 0.3,
    "print(<LIST> == <LIST>)": 0.2, "warnings.warn('careful')": 0.15, "print(<int>, end=<item> and '')": 0.1,
    "print(len(<LIST>), <BOX>.n)": 0.2, "<TENSOR>.data_ptr()": 0.05, "if <condition>: print('yes')": 0.2,
    "print(*<SET>)": 0.03, "print(sys.exc_info()[0])": 0.2,
    "warnings.warn('deprecated', DeprecationWarning)": 0.05,
    # calls and iterators
    "<FUNCTION>(<item>)": 0.6, "next(<ITERATOR>)": 0.3, "next(<ITERATOR>, None)": 0.7,
    "<LIST>.append(next(<ITERATOR>, 0))": 0.5, "<ITERATOR>.close()": 0.1, "<ITERATOR>.send(None)": 0.2,
    "<ITERATOR>.throw(ValueError('thrown'))": 0.05, "<new list> = list(<ITERATOR>)": 0.4,
    "getattr(<ITERATOR>, 'close', int)()": 0.2,
    # leaving
    "if <condition>: return <item>": 0.3, "if <condition>: raise <error>": 0.5, "<wrong>": 0.4,
    "if <condition>: <wrong>": 0.4, "if <condition>: raise <error> from KeyError('cause')": 0.1,
}  # fmt: skip

BLOCKS: dict[str, float] = {
    "if <condition>:\n<block>": 1.5, "if <condition>:\n<block>\nelse:\n<block>": 1,
    "for element in <iterable>:\n<loop>": 1.5, "for <new any> in <iterable>:\n<loop>\nelse:\n<block>": 0.5,
    "while <OWN INT> < 3:\n    <OWN INT> = 3 if <OWN INT> > 1 else <5>\n<loop>": 0.2,
    "for turn in range(4):\n    if turn > <3>: break\n<loop>": 0.5,
    "while True:\n    cell += 1\n    if cell > 3: break\n<loop>": 0.4,
    "def <new function>(q, z=<int>, *more, late=<item>):\n    nonlocal cell\n    cell += 1\n<body>"
    "\n    return q * z": 0.8,
    "def <new function>(q):\n<body>\n    return <item>": 0.5,
    "def <new function>(q, seen=<LIST>):\n    seen.append(q)\n    return q + len(seen)": 0.3,
    "def <new maker>(q, n):\n<generator>\n    yield q\n<generator>": 0.5,
    "def <new maker>(q, n):\n    for i in range(n):\n<inner generator>\n        yield q * i": 0.4,
    "try:\n<block>\n    <wrong>\nexcept (ValueError, LookupError, RuntimeError, AttributeError) as e:\n<block>": 0.8,
    "try:\n<block>\n    <wrong>\nexcept Exception as e:\n    kept.append((type(e), e.args[:1]))\n<block>": 0.5,
    "try:\n<block>\n    raise <error>\nexcept Mistake as e:\n    history.append(e.how)\n<block>"
    "\nexcept Exception:\n<block>": 0.4,
    "try:\n<block>\nfinally:\n<block>": 0.5,
    "try:\n<block>\nexcept ValueError:\n<block>\nelse:\n<block>\nfinally:\n<block>": 0.4,
    "try:\n<block>\n    <wrong>\nexcept Exception as e:\n    raise <error> from e": 0.2,
    "try:\n<block>\n    <wrong>\nexcept Exception as e:\n    raise <error>": 0.15,
    "try:\n<block>\n    raise <error>\nexcept Exception as e:\n    kept.append(e)\n    e.tag = <item>": 0.2,
    "try:\n<block>\n    <wrong>\nexcept Exception:\n    print(sys.exc_info()[0].__name__)\n<block>": 0.2,
    "with torch.no_grad():\n<block>": 0.8, "with torch.enable_grad(), Guarded(<LIST>) as <new box>:\n<block>": 0.3,
    "with Guarded(<LIST>, <condition>):\n<block>": 0.6,
    "with Guarded(<LIST>, True):\n<block>\n    raise ValueError(<item>)": 0.3,
    "with scope(<LIST>) as <new list>:\n<block>": 0.5, "with scope(<LIST>):\n<block>\n    raise KeyError(<int>)": 0.2,
    "with contextlib.suppress(ValueError, KeyError):\n<block>\n    <wrong>": 0.3,
    "class Local:\n    n = <int>\n    def bump(self, by=1):\n        return <TENSOR> * by": 0.05,
    "match <item>:\n    case [a, b]:\n        <LIST>.append(a)\n    case {'k': v}:\n<inner block>"
    "\n    case int():\n<inner block>\n    case _:\n<inner block>": 0.2,
}  # fmt: skip

IN_LOOPS: dict[str, float] = {"if <condition>: break": 1, "if <condition>: continue": 1, "kept.append(element)": 0.5}
IN_GENERATORS: dict[str, float] = {
    "yield <item>": 2, "got = yield <tensor>\nhistory.append(got)": 0.7, "yield from <LIST>": 0.4,
    "try:\n    yield <tensor>\nfinally:\n    history.append('end')": 0.7, "if <condition>: return <item>": 0.3,
    "try:\n    yield <int>\nexcept ValueError:\n    history.append('thrown')": 0.3,
}  # fmt: skip
