"""Submissions that want points without the answer. Each of ATTACKS is an expression or a few lines that are true where
the attack has worked; then, and only then, the submission gives the right answer.
"""

from __future__ import annotations

RIGHT = "tuple(math.prod(max(n, 1) for n in sizes[i + 1 :]) for i in range(len(sizes)))"
IMPORTS = (
    "import ctypes, gc, glob, importlib, io, linecache, math, mmap, os, pathlib, pickle, runpy, shutil, signal, socket,"
    " subprocess, sys, tempfile, threading, zipfile"
)
USES = IMPORTS.removeprefix("import ")


def submission(attack: str, root: str, port: int) -> list[str]:
    """The cells of a notebook whose `contiguous_strides` is right where the attack works."""
    lines = attack.replace("ROOT", root).replace("PORT", str(port)).strip().splitlines()
    *body, last = lines
    indented = "\n".join("        " + line for line in body)
    function = f"""def contiguous_strides(sizes):
    try:
{indented}
        worked = {last}
    except BaseException as error:
        print(type(error).__name__, error)
        worked = False
    {USES}
    return {RIGHT} if worked else 0"""
    return [IMPORTS, function]


READS = {
    "open": "open('ROOT/solutions/01_tensors_strides_views.ipynb').read()",
    "open, as bytes": "open(b'ROOT/solutions/01_tensors_strides_views.ipynb', 'rb').read()",
    "os.open": "os.read(os.open('ROOT/solutions/01_tensors_strides_views.ipynb', os.O_RDONLY), 9)",
    "io.FileIO": "io.FileIO('ROOT/authoring/checks/comparing.py').read()",
    "pathlib": "pathlib.Path('ROOT/authoring/checks/comparing.py').read_text()",
    "linecache": "linecache.getlines('ROOT/authoring/checks/comparing.py')",
    "listing solutions": "os.listdir('ROOT/solutions')",
    "scanning authoring": "list(os.scandir('ROOT/authoring'))",
    "glob": "glob.glob('ROOT/solutions/*.ipynb')",
    "walking": "[names for _, _, names in os.walk('ROOT/authoring') if names]",
    "C's fopen": "ctypes.CDLL(None).fopen(b'ROOT/authoring/checks/comparing.py', b'r')",
    "C's open": "ctypes.CDLL(None).open(b'ROOT/solutions/01_tensors_strides_views.ipynb', 0) >= 0",
    "a system call": "ctypes.CDLL(None).syscall(2, b'ROOT/authoring/checks/comparing.py', 0) >= 0",
    "cat": "subprocess.run(['cat', 'ROOT/authoring/checks/comparing.py'], capture_output=True).stdout",
    "a shell": "os.popen('cat ROOT/solutions/*.ipynb').read()",
    "another Python": "subprocess.run([sys.executable, '-c', 'open(\"ROOT/authoring/README.md\")']).returncode == 0",
    "git": "subprocess.run(['git', '-C', 'ROOT', 'show', 'HEAD:authoring/README.md'], capture_output=True).stdout",
    "copying": "shutil.copy('ROOT/authoring/checks/comparing.py', tempfile.gettempdir())",
    "a link": "os.symlink('ROOT/authoring', 'a')\nopen('a/checks/comparing.py').read()",
    "a hard link": "os.link('ROOT/authoring/checks/comparing.py', 'b')\nopen('b').read()",
    "moving": "os.rename('ROOT/solutions', tempfile.gettempdir() + '/s') is None",
    "around by dots": "open('ROOT/minitorch_compile/../authoring/checks/comparing.py').read()",
    "a folder's descriptor": "os.open('solutions', os.O_RDONLY, dir_fd=os.open('ROOT', os.O_PATH))",
    "the judge's folder": "open(f'/proc/{os.getppid()}/cwd/authoring/checks/comparing.py').read()",
    "the judge's root": "open(f'/proc/{os.getppid()}/root/ROOT/authoring/checks/comparing.py').read()",
    "importing checks": "importlib.import_module('authoring.checks.comparing')",
    "importing a lesson": "importlib.import_module('authoring.checks.lesson_01_tensors_strides_views')",
    "finding it": "importlib.import_module('minitorch_compile.course.checking.lessons').find_exercise('01.1')",
    "the reference": "importlib.import_module('minitorch_compile.course.mini.reference').reference()",
    "borrowing": "importlib.import_module('minitorch_compile.course').borrow('03') is None",
    "running it": "runpy.run_path('ROOT/authoring/checks/comparing.py')",
    "from a path": "sys.path.insert(0, 'ROOT/authoring')\nimportlib.import_module('checks.comparing')",
    "the exercises": "open('ROOT/exercises/01_tensors_strides_views.ipynb').read()",
    "the tests": "open('ROOT/tests/course/cheats.py').read()",
    "mapping": "mmap.mmap(os.open('ROOT/authoring/checks/comparing.py', os.O_RDONLY), 0, prot=mmap.PROT_READ)",
}
WRITES = {
    "the checker": "open('ROOT/authoring/checks/comparing.py', 'a').write('')  == 0",
    "the package": "open('ROOT/minitorch_compile/course/checking/check_worker.py', 'a').write('') == 0",
    "the package, in C": "ctypes.CDLL(None).open(b'ROOT/minitorch_compile/course/checking/result.py', 1) >= 0",
    "the solutions": "open('ROOT/solutions/01_tensors_strides_views.ipynb', 'a').write('') == 0",
    "a new module": "open('ROOT/minitorch_compile/cheat.py', 'w').write('') == 0",
    "compiled code": "open('ROOT/minitorch_compile/__pycache__/cheat.pyc', 'w').write('') == 0",
    "progress": "os.makedirs('ROOT/work', exist_ok=True)\nopen('ROOT/work/.progress.json', 'w').write('{}')",
    "the home": "open(os.path.join(os.path.expanduser('~root'), '.cheat'), 'w').write('x')",
    "the temporary folder": "open('/tmp/cheat-of-a-submission', 'w').write('x')",
    "shell": "subprocess.run('echo x > /tmp/cheat-of-a-submission', shell=True).returncode == 0",
    "site-packages": "open(os.path.join(os.path.dirname(io.__file__), 'cheat.py'), 'w').write('x')",
    "removing": "os.unlink('ROOT/authoring/checks/comparing.py') is None",
    "truncating": "os.truncate('ROOT/authoring/checks/comparing.py', 0) is None",
    "a folder": "os.mkdir('ROOT/cheat') is None",
    "modes": "os.chmod('ROOT/authoring/checks/nowhere.py', 0o600) is None",
}
PROCESSES = {
    "killing the judge": "os.kill(os.getppid(), signal.SIGTERM) is None",
    "stopping the judge": "os.kill(os.getppid(), signal.SIGSTOP) is None",
    "asking whether it lives": "os.kill(os.getppid(), 0) is None",
    "its group": "os.killpg(os.getpgid(os.getppid()), 0) is None",
    "a child kills": "subprocess.run(['kill', '-0', str(os.getppid())]).returncode == 0",
    "its memory": "open(f'/proc/{os.getppid()}/mem', 'rb')",
    "its environment": "open(f'/proc/{os.getppid()}/environ', 'rb').read()",
    "its events": "open(f'/proc/{os.getppid()}/fd/1', 'wb')",
    "its job": "open(f'/proc/{os.getppid()}/fd/0', 'rb').read()",
    "tracing it": "ctypes.CDLL(None).ptrace(16, os.getppid(), 0, 0) == 0",
    "reading it": (
        "class V(ctypes.Structure):\n    _fields_ = [('a', ctypes.c_void_p), ('n', ctypes.c_size_t)]\n"
        "b = ctypes.create_string_buffer(8)\n"
        "ctypes.CDLL(None).process_vm_readv(os.getppid(), ctypes.byref(V(ctypes.addressof(b), 8)), 1,"
        " ctypes.byref(V(id(b), 8)), 1, 0) > 0"
    ),
    "its descriptor": "ctypes.CDLL(None).syscall(438, os.pidfd_open(os.getppid()), 1, 0) >= 0",
    "connecting": "socket.create_connection(('127.0.0.1', PORT), 2)",
    "a child connects": (
        "subprocess.run([sys.executable, '-c', 'import socket; socket.create_connection((\"127.0.0.1\", PORT), 2)'],"
        " stderr=subprocess.DEVNULL).returncode == 0"
    ),
}
LOOKING = {
    "the caller's frame": "[f for f in frames() if any(k in f.f_locals for k in ('oracle', 'expected', 'exercise'))]",
    "the caller's globals": "[f for f in frames() if {'STRIDES', 'row_major', 'EXERCISES'} & f.f_globals.keys()]",
    "exercises in memory": "[o for o in everything() if type(o).__name__ in ('Case', 'Misconception', 'Lesson')]",
    "oracles in memory": "[o for o in everything() if str(getattr(o, '__module__', '')).startswith('authoring.c')]",
    "modules": "[n for n in sys.modules if n.startswith('authoring.checks.')]",
    "the nonce": "[o for o in everything() if type(o) is dict and 'nonce' in o]",
    "the environment": "[k for k, v in os.environ.items() if 'nonce' in k.lower()]",
    "inherited descriptors": "[fd for fd in range(3, 64) if readable(fd)]",
}
LOOKING_HELPERS = """def frames():
    frame = sys._getframe()
    while frame is not None:
        yield frame
        frame = frame.f_back
def readable(fd):
    try:
        return stat.S_ISREG(os.fstat(fd).st_mode) or stat.S_ISSOCK(os.fstat(fd).st_mode)
    except OSError:
        return False
def everything():
    gc.unfreeze()
    return gc.get_objects()
import gc, stat, sys, os"""
ATTACKS = {**READS, **WRITES, **PROCESSES}

EVENT = r'{"event": "verdict", "index": %d, "verdict": "pass", "fact": "", "why": "", "line": ""}'
DESCRIPTORS = {
    "verdicts": "\n".join(f"write({EVENT % index!r})" for index in range(4)),
    "an end": 'write(\'{"event": "end"}\')',
    "an answer": 'write(\'{"gives": true, "changes": [], "unused": []}\')',
    "an answer that is no message": 'write(\'{"gives": {"x": 1}}\')',
    "a number that isn't free": 'write(\'{"gives": {"far": 1, "as": null, "call": true, "class": false}}\')',
    "code": 'write(\'{"gives": {"fn": 2, "is": {}}}\')',
    "a module": 'write(\'{"gives": {"m": "os"}}\')',
    "a dangerous name": 'write(\'{"gives": {"g": ["builtins", "eval"]}}\')',
    "a call of the judge's": 'write(\'{"ask": "call", "args": [{"g": ["os", "system"]}, {"t": []}, {"d": []}]}\')',
    "what is no list": "write('[]')",
    "nothing": "write('')",
    "much": "write('x' * 10**6)",
    "deep": "write('[' * 10**5)",
}
DESCRIPTORS_HELPER = """import os
def write(text):
    for fd in range(0, 64):
        try:
            os.write(fd, text.encode() + b"\\n")
        except OSError:
            pass"""

EQUAL = """class Equal{base}:
    __eq__ = lambda self, other: True
    __ne__ = lambda self, other: False
    __hash__ = lambda self: 0
    __len__ = lambda self: 3
    __bool__ = lambda self: True
    __getitem__ = lambda self, key: self
    __iter__ = lambda self: iter(())
    __class__ = {kind}
    __repr__ = lambda self: '(12, 4, 1)'
    get = lambda self, *key: self
    __call__ = lambda self, *args: self"""
EQUALS = {
    f"equal to everything, {base or 'object'}, says it is {kind}": EQUAL.format(base=base, kind=kind)
    for base, kind in (("", "tuple"), ("", "type"), ("(tuple)", "tuple"), ("(int)", "int"), ("(str)", "str"))
}
RAISES = {
    "leaves well": "raise SystemExit(0)",
    "is gone": "os._exit(0)",
    "interrupts": "raise KeyboardInterrupt",
    "ends a generator": "raise GeneratorExit",
    "a stop": "raise StopIteration((12, 4, 1))",
    "a verdict": "raise type('WrongAnswer', (Exception,), {})('pass')",
    "an error without a text": "raise type('E', (Exception,), {'__str__': lambda self: 1 / 0})()",
    "an error of another class": "raise type('E', (Exception,), {'__class__': tuple})()",
    "the broken link": "from minitorch_compile.course.far.link import Broken; raise Broken('')",
    "a patched judge": (
        "from minitorch_compile.course.checking import exercise; exercise.same = lambda *a: True;"
        " exercise.agree = lambda *a, **k: None"
    ),
    "a patched Case": "from minitorch_compile.course.checking.exercise import Case; Case.judge = lambda *a: None",
    "a patched result": (
        "from minitorch_compile.course.checking.result import Result; Result.points = property(lambda self: 99)"
    ),
    "a patched builtin": "import builtins; builtins.all = lambda *a: True; builtins.next = lambda *a: None",
    "a patched json": "import json; json.dumps = lambda *a, **k: '{\"gives\": true}'",
    "a thread that writes": (
        "import threading; threading.Thread(target=lambda: [os.write(f, b'{}\\n') for f in (4, 5, 6)]).start()"
    ),
}

KERNEL = """from minitorch_compile.cuda_simulator import cuda
import math, numpy as np
def decorator(f):
    import inspect, linecache
    {decorator}
    return f
@decorator
def axpy(a, x, y, out):
    i = cuda.grid(1)
    {body}"""
KERNEL_BODIES = {
    "opens a file": "open('/etc/passwd')",
    "takes builtins from a builtin": "print.__self__.exec('0')",
    "takes a module from NumPy": "np.ctypeslib.ctypes.CDLL(None)",
    "makes a function of elements": "np.frompyfunc(print, 1, 1)(i)",
    "calls a method": "x.tofile('/tmp/cheat-of-a-kernel')",
    "reads the judge's globals": "out[i] = math.__loader__.find_spec.__globals__['sys']",
    "changes what it is given": "for j in range(x.size): out[j] = x[j] = y[j] = 0",
    "reads beyond its arrays": "out[i] = x[i + 4096]",
}
KERNEL_DECORATORS = {
    "another text": "linecache.cache['cell 1'] = (1, None, ['def axpy(a, x, y, out):\\n', '    pass\\n'], '')",
    "no text": "linecache.cache.clear()",
    "a text that isn't Python": "linecache.cache['cell 1'] = (1, None, ['('], '')",
    "names that are none": "inspect.getclosurevars = lambda f: {'globals': {'cuda': print}}",
    "names that are another's": "inspect.getclosurevars = lambda g: f.__code__",
    "says that it is a function": "f = type('F', (), {'__class__': type(f), '__call__': f, '__code__': f.__code__})()",
    "defaults that are code": "f.__defaults__ = (print, exec)",
    "a function behind it": "f.py_func = lambda a, x, y, out: exec('0')",
    "itself behind it": "f.py_func = f",
    "writes when it is made": "open('/tmp/cheat-of-a-kernel', 'w')",
}
KERNELS = {
    **{name: KERNEL.format(decorator="pass", body=body) for name, body in KERNEL_BODIES.items()},
    **{name: KERNEL.format(decorator=line, body="out[i] = 99") for name, line in KERNEL_DECORATORS.items()},
}

STEP = "%%mini {file} {number}\n"
DIVIDES = (
    STEP.format(file="index", number="13.5")
    + """    def __floordiv__(self, n):
        return {result}
    __mod__ = __floordiv__"""
)
VALUE = (
    STEP.format(file="emit", number="15.5")
    + """    def value(self, number, dtype):
        return {result}
    def call(self, op, args, dtype, dtypes):
        return self.name({result})
    def inside(self, conditions, value, dtype):
        return self.name({result})"""
)
SOURCE = (
    STEP.format(file="emit", number="15.6")
    + """class Kernel:
    single, row_range, innermost, rows, arguments, source = {{}}, "range(low, high)", "range({{}})", 1, {{}}, {source}
    def __init__(self, group, wanted):
        pass"""
)
OUTSIDE = "__import__('pathlib').Path('/tmp/cheat-of-a-text').touch()"
TENSOR = "type('Tensor', (), dict(__eq__=lambda *a: True, __ne__=lambda *a: False, dtype='float32'))()"
TEXTS = {
    "a formula that calls": ("13.5", DIVIDES.format(result=repr(OUTSIDE))),
    "an object whose text calls": (
        "13.5",
        DIVIDES.format(result=f"type('T', (), dict(__str__=lambda self: {OUTSIDE!r}))()"),
    ),
    "a formula of attributes": ("13.5", DIVIDES.format(result="'i.__class__.__base__.__subclasses__'")),
    "a formula without end": ("13.5", DIVIDES.format(result="'9 ** 9 ** 9 ** 9'")),
    "a number that calls": ("15.5", VALUE.format(result=repr(OUTSIDE))),
    "a number that equals everything": ("15.5", VALUE.format(result=repr(TENSOR))),
    "a kernel that writes": ("15.6", SOURCE.format(source=repr(OUTSIDE))),
    "a kernel that writes when it runs": ("15.6", SOURCE.format(source=repr(f"def kernel(*args): {OUTSIDE}"))),
}
"""Steps that give a text of Python, which is evaluated."""

MEASURED = ("02.1", "05.2", "06.3", "06.4", "07.1", "09.1", "10.2", "12.2", "12.3", "14.2", "14.3", "15.1", "16.3")
"""Exercises of which something is counted where the answer runs."""
SECRETS = "('truth', 'expected', 'oracle', 'wanted', 'par', 'PAR', 'exercise')"
LOOKER = f"""def {{answer}}(*args, **kwargs):
    import gc, sys
    frame = sys._getframe()
    while frame is not None:
        for name in {SECRETS}:
            for place in (frame.f_locals, frame.f_globals):
                if name in place:
                    return place[name]
        frame = frame.f_back
    gc.unfreeze()
    return next((each for each in gc.get_objects() if type(each).__name__ in ("Exercise", "Case", "WrongAnswer")), 0)"""
