"""Instructions that most functions have none of: of exception groups, `match`, imports, and of the bodies of classes
and modules, whose names live in a dict.

>>> from minitorch_compile.dynamo.bytecode.decode import decode
>>> names = [inst.opname for inst in decode(compile("from math import pi", "", "exec")).instructions]
>>> [name for name in names if name in vars(RareInstructions)]
['IMPORT_NAME', 'IMPORT_FROM', 'STORE_NAME']
"""

from __future__ import annotations

from minitorch_compile.dynamo.bytecode.instructions import NULL, TYPE_INTRINSICS, Instruction
from minitorch_compile.dynamo.execution.building_instructions import BuildingInstructions
from minitorch_compile.dynamo.execution.hooks import Value


class RareInstructions(BuildingInstructions):
    """The handlers, and before them the hooks that they ask."""

    # --- names of class bodies and modules ----------------------------------------------------------------------------

    def load_name(self, name: str) -> Value:
        """In a class or module body: namespace, then globals, then builtins."""
        self.unsupported("load_name")

    def store_name(self, name: str, value: Value) -> None:
        self.unsupported("store_name")

    def delete_name(self, name: str) -> None:
        self.unsupported("delete_name")

    def load_namespace(self) -> Value:
        """The mapping that the class or module body is filling."""
        self.unsupported("load_namespace")

    def load_build_class(self) -> Value:
        """The function builtins.__build_class__."""
        self.unsupported("load_build_class")

    def type_parameters(self, intrinsic: str, operands: list[Value]) -> Value:
        """One step of making type parameters, a generic base or a `type` alias (PEP 695)."""
        self.unsupported("type_parameters")

    def LOAD_NAME(self, inst: Instruction) -> None:
        self.push(self.load_name(inst.argval))

    def STORE_NAME(self, inst: Instruction) -> None:
        self.store_name(inst.argval, self.pop())

    def DELETE_NAME(self, inst: Instruction) -> None:
        self.delete_name(inst.argval)

    def LOAD_LOCALS(self, inst: Instruction) -> None:
        self.push(self.load_namespace())

    def TYPE_PARAMETERS(self, inst: Instruction) -> None:
        count, _ = TYPE_INTRINSICS[inst.argval]
        self.push(self.type_parameters(inst.argval, self.popn(count)))

    def SETUP_ANNOTATIONS(self, inst: Instruction) -> None:
        namespace = self.load_namespace()
        if self.lookup(namespace, "__annotations__") is NULL:
            self.store_name("__annotations__", self.build_map([], []))

    def LOAD_BUILD_CLASS(self, inst: Instruction) -> None:
        self.push(self.load_build_class())

    def super_arguments(self) -> list[Value]:
        """What `super()` without arguments stands for: the class being defined and the method's first argument."""
        name = self.program.code.co_varnames[0]
        first = self.load_slot(name)
        is_cell = name in self.program.code.co_cellvars
        return [self.load_cell(self.locals["__class__"]), self.load_cell(first) if is_cell else first]

    def super_problem(self) -> str:
        """Why `super()` without arguments means nothing here; empty if it does."""
        code = self.program.code
        if not code.co_argcount:
            return "super(): no arguments"
        if "__class__" not in code.co_freevars:
            return "super(): __class__ cell not found"
        name = code.co_varnames[0]
        content = self.locals.get(name, NULL)
        if content is NULL or name in code.co_cellvars and self.load_cell(content) is NULL:
            return "super(): arg[0] deleted"
        return "super(): empty __class__ cell" if self.load_cell(self.locals["__class__"]) is NULL else ""

    # --- exception groups ---------------------------------------------------------------------------------------------

    def exception_group_split(self, exception: Value, classes: Value) -> tuple[Value, Value]:
        """The test of `except* classes:`: (rest or None, matched or None) as values."""
        self.unsupported("exception_group_split")

    def exception_group_join(self, original: Value, raised: Value) -> Value:
        """End of `except*`: what is to be raised, made of a list of exceptions; the value None if nothing is."""
        self.unsupported("exception_group_join")

    def CHECK_EG_MATCH(self, inst: Instruction) -> None:
        exception, classes = self.popn(2)
        rest, matched = self.exception_group_split(exception, classes)
        if not self.is_none(matched):
            self.handled = matched  # what a bare `raise` in this clause raises
        self.stack.extend((rest, matched))

    def PREP_RERAISE_STAR(self, inst: Instruction) -> None:
        original, raised = self.popn(2)
        self.push(self.exception_group_join(original, raised))

    # --- match and import ---------------------------------------------------------------------------------------------

    def get_len(self, subject: Value) -> Value:
        self.unsupported("get_len")

    def match_mapping(self, subject: Value) -> Value:
        self.unsupported("match_mapping")

    def match_sequence(self, subject: Value) -> Value:
        self.unsupported("match_sequence")

    def match_keys(self, subject: Value, keys: Value) -> Value:
        """A tuple value of the keys' values, or the value None if one is missing."""
        self.unsupported("match_keys")

    def match_class(self, subject: Value, cls: Value, positional: int, names: Value) -> Value:
        """A tuple value of the attributes asked for, or the value None if subject does not match."""
        self.unsupported("match_class")

    def import_name(self, name: str, fromlist: Value, level: Value) -> Value:
        self.unsupported("import_name")

    def import_from(self, module: Value, name: str) -> Value:
        self.unsupported("import_from")

    def import_star(self, module: Value) -> None:
        self.unsupported("import_star")

    def print_expr(self, value: Value) -> None:
        """What the prompt does with the value of a line."""
        self.unsupported("print_expr")

    def GET_LEN(self, inst: Instruction) -> None:
        self.push(self.get_len(self.stack[-1]))

    def MATCH_MAPPING(self, inst: Instruction) -> None:
        self.push(self.match_mapping(self.stack[-1]))

    def MATCH_SEQUENCE(self, inst: Instruction) -> None:
        self.push(self.match_sequence(self.stack[-1]))

    def MATCH_KEYS(self, inst: Instruction) -> None:
        self.push(self.match_keys(self.stack[-2], self.stack[-1]))

    def MATCH_CLASS(self, inst: Instruction) -> None:
        subject, cls, names = self.popn(3)
        self.push(self.match_class(subject, cls, inst.argval, names))

    def IMPORT_NAME(self, inst: Instruction) -> None:
        level, fromlist = self.popn(2)
        self.push(self.import_name(inst.argval, fromlist, level))

    def IMPORT_FROM(self, inst: Instruction) -> None:
        self.push(self.import_from(self.stack[-1], inst.argval))

    def IMPORT_STAR(self, inst: Instruction) -> None:
        self.import_star(self.pop())

    def PRINT_EXPR(self, inst: Instruction) -> None:
        self.print_expr(self.pop())
