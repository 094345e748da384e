"""The conversation of two processes: a line of JSON each, a question or an answer, strictly in turn.

While one waits for an answer, the other may ask back: so a function of the judge's that the learner's code was given is
called in the judge. What the learner's process may ask is little (`_allow`).
"""

from __future__ import annotations

import json
import operator
import traceback
from collections.abc import Callable, Iterable
from typing import IO, Any

from minitorch_compile import Tensor

from .codec import Codec, Refused
from .far import Far, FarCallable

MOST_BYTES = 2**26  # of a message
written = json.JSONEncoder(separators=(",", ":")).encode
NESTED = "what your code gave is nested too deeply, or holds itself in a way that has no end"
Tell = Callable[[BaseException], dict[str, str]]


class Broken(BaseException):
    """The other process has ended, or writes what is no message. No check may take it for an error of an answer's."""

    def __init__(self, said: str, wrote: str | None = None) -> None:
        super().__init__(said)
        self.wrote = wrote


class Link:
    """`tell` says of an error what is known in this process only: the learner's line."""

    def __init__(self, reading: IO[bytes], writing: IO[bytes], trusted: bool, tell: Tell | None = None) -> None:
        self.reading, self.writing = reading, writing
        self.codec = Codec(self, trusted, first=2 if trusted else 1)
        self.trusted, self.tell = trusted, tell
        self.called: Any = None  # the last of the other process's functions that was called from here

    def ask(self, what: str, *args: Any) -> Any:
        if what == "call":  # of a measurement of the judge's (`there.py`) what it measures
            self.called = next((each for each in (args[0], *args[1]) if type(each) is FarCallable), self.called)
        self._write(self._line("args", args, self._encoded_all, ask=what))
        while True:
            message = self._receive()
            if "ask" in message:
                self._serve(message)
            elif "gives" in message:
                return message["decoded"][0]
            else:
                raise message["decoded"]

    def serve(self) -> None:
        """Answers questions until the other process ends."""
        while True:
            try:
                message = self._receive()
            except Broken as end:
                if end.__cause__ is not None:  # what the judge sent could not be rebuilt: an error of ours
                    traceback.print_exception(end.__cause__)
                return
            if message.get("ask") == "end":
                return
            self._serve(message)

    # ---- messages

    def _line(self, kind: str, value: Any, encode: Callable[[Any], Any], **more: str) -> bytes:
        """A message. One that can't be written (MemoryError, RecursionError) leaves nothing behind."""
        before = self.codec.state()
        try:
            message = more | {kind: encode(value), "changes": self.codec.changes()}
            line = written(message).encode()
            if len(line) > MOST_BYTES - 2**20:
                raise MemoryError(f"a message of {len(line):,} bytes")
        except BaseException:
            self.codec.restore(before)
            raise
        return b'%s,"unused":%s}\n' % (line[:-1], written(self.codec.unused()).encode())

    def _encoded_all(self, values: Iterable[Any]) -> list[Any]:
        """The parts of a question; its own words, such as an attribute's name, need no identity."""
        return [each if type(each) is str else self.codec.encode(each) for each in values]

    def _write(self, line: bytes) -> None:
        try:
            self.writing.write(line)
            self.writing.flush()
        except OSError as error:
            raise Broken("it has ended") from error

    def _receive(self) -> dict[str, Any]:
        try:
            line = self.reading.readline(MOST_BYTES)
        except OSError as error:
            raise Broken("it has ended") from error
        if not line:
            raise Broken("it has ended")
        try:
            message = json.loads(line.decode())
            if type(message) is not dict or not line.endswith(b"\n"):
                raise Refused("no message")
            # New objects are made while the message is read; then those that have changed get their contents.
            self._take_over(message)
        except Broken:
            raise
        except Exception as error:
            raise Broken("it wrote what is no message", line[:60].decode(errors="replace")) from error
        return message

    def _take_over(self, message: dict[str, Any]) -> None:
        message["decoded"] = None
        self.codec.strict = "ask" in message
        if "ask" in message:
            message["decoded"] = [self.codec.decode(each) for each in message["args"]]
        elif "gives" in message:
            message["decoded"] = [self.codec.decode(message["gives"])]
        elif "raises" in message:
            message["decoded"] = self.decoded_error(message["raises"])
        else:
            raise Refused("no message")
        self.codec.apply(message["changes"])
        for number in message["unused"]:
            self.codec.forget(number)

    # ---- errors

    def encoded_error(self, error: BaseException) -> dict[str, Any]:
        if (number := self.codec.number_of(error)) is not None:
            return {"known": number}
        number = self.codec.register(error)
        try:
            said = str(error)
        except Exception:  # noqa: BLE001 (an exception of the learner's may not even have a text)
            said = "an error without a text"
        args = [each for each in error.args if type(each) in (str, int, bool, type(None))]
        args = args if len(args) == len(error.args) else [said]
        return {
            "class": self.codec.encode(type(error)),
            "args": args,
            "number": number,
            "told": self.tell(error) if self.tell is not None else {},
        }

    def decoded_error(self, data: Any) -> BaseException:
        if "known" in data:
            found = self.codec.objects[data["known"]]
            if not isinstance(found, BaseException):
                raise Refused("this is no exception")
            return found
        kind = self.codec.decode(data["class"])
        args = [each for each in data["args"] if type(each) in (str, int, bool, type(None))]
        if not (isinstance(kind, type) and issubclass(kind, Exception | SystemExit)):
            kind, args = RuntimeError, [getattr(kind, "__name__", "no exception"), *args]
        try:
            error = kind(*args)
        except Exception:  # noqa: BLE001 (one that wants other arguments, as UnicodeDecodeError does)
            error = MemoryError(*args) if issubclass(kind, MemoryError) else RuntimeError(f"{kind.__name__}: {args}")
        error.__dict__["told"] = {str(k): str(v) for k, v in dict(data["told"]).items()}
        self.codec.register(error, self.codec._foreign(data["number"]))
        return error

    def exception_class(self, number: int, name: str, local: type) -> type:
        """A class of the other process's, derived from one that both have: so it can be raised and caught here."""

        def lookup(error: Any, attribute: str) -> Any:
            if attribute.startswith("__"):
                raise AttributeError(attribute)
            return self.ask("get", error, attribute)

        return type(name, (local,), {"__getattr__": lookup, "__module__": "far"})

    # ---- what is asked

    def _serve(self, message: dict[str, Any]) -> None:
        what, args = message["ask"], message["decoded"]
        try:
            if not self.trusted:
                self._allow(what, args)
            line = self._given(getattr(self, f"_do_{what}")(*args))
        except Broken:
            raise
        except BaseException as error:  # noqa: BLE001 (all that happens there is told)
            line = self._line("raises", error, self.encoded_error)
        self._write(line)

    def _given(self, value: Any) -> bytes:
        try:
            return self._line("gives", value, self.codec.encode)
        except RecursionError as error:
            raise RecursionError(NESTED) from error

    def _allow(self, what: str, args: list[Any]) -> None:
        """PermissionError unless the learner's process may ask this: to call what it was given, to look at values."""
        if what == "call":
            # Of what was sent as code it has a copy of its own: what does as it is told there is not called here.
            lent = self.codec.number_of(args[0]) in self.codec.lent
            if not lent or isinstance(args[0], type) or not callable(args[0]):
                raise PermissionError("only functions that were given can be called")
            return
        owner = type(args[0]).__module__.partition(".")[0] if what == "get" else ""
        if what == "get" and owner == "authoring" and not str(args[1]).startswith(INSIDE):
            return
        if what == "op" and args[0] in READING:
            return
        raise PermissionError(f"the learner's process may not ask {what} {args[1:2]}")

    def _do_get(self, value: Any, name: str) -> Any:
        return getattr(value, name)

    def _do_set(self, value: Any, name: str, new: Any) -> None:
        setattr(value, name, new)

    def _do_delete(self, value: Any, name: str) -> None:
        delattr(value, name)

    def _do_call(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return function(*args, **kwargs)

    def _do_compares(self, value: Any) -> bool:
        """Whether `==` compares elements, as arrays and tensors do."""
        return isinstance(value, Tensor) or "Tensor" in type(value).__name__

    def _do_op(self, name: str, *args: Any) -> Any:
        return OPS[name](*args)

    def _do_derive(self, base: Any, name: str, namespace: dict[str, Any]) -> Any:
        return type(base)(name, (base,), namespace)

    def base_of(self, far: Far) -> type:
        """What a class statement here derives from, so that the class is made in the other process."""
        link = self

        class Deriving(type):
            def __new__(cls, name: str, bases: Any, namespace: dict[str, Any]) -> Any:
                if not bases:
                    return super().__new__(cls, name, bases, namespace)
                kept = {k: v for k, v in namespace.items() if k not in ("__classcell__", "__annotations__")}
                return link.ask("derive", far, name, kept)

        return Deriving(far.__name__, (), {})


OPS: dict[str, Any] = {
    "truth": bool,
    "len": len,
    "repr": repr,
    "str": str,
    "iter": iter,
    "next": next,
    "contains": operator.contains,
    "isinstance": isinstance,
    "issubclass": issubclass,
    "eq": operator.eq,
    "getitem": operator.getitem,
    "setitem": operator.setitem,
    "delitem": operator.delitem,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
    "neg": operator.neg,
    "pos": operator.pos,
    "invert": operator.invert,
    "abs": abs,
    "index": operator.index,
    "int": int,
    "float": float,
    "and": operator.and_,
    "or": operator.or_,
    **{
        name: getattr(operator, name)
        for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "xor", "lshift", "rshift")
    },
}
READING = {"truth", "len", "repr", "str", "iter", "next", "contains", "getitem", "lt", "le", "gt", "ge"}
INSIDE = ("_", "gi_", "cr_", "ag_", "f_", "tb_", "co_", "func_", "mro")
