"""The symbolic tracer: call a function or a module's forward with proxies, and keep what they wrote down.

>>> from minitorch_compile import nn
>>> class Net(nn.Module):
...     def __init__(self):
...         super().__init__()
...         self.layer = nn.Linear(3, 4)
...     def forward(self, x):
...         return self.layer(x).relu() * self.layer.weight.mean()
>>> print(Tracer().trace(Net()))
graph():
    %x : [num_users=1] = placeholder[target=x]
    %layer : [num_users=1] = call_module[target=layer](args = (%x,), kwargs = {})
    %relu : [num_users=1] = call_method[target=relu](args = (%layer,), kwargs = {})
    %layer_weight : [num_users=1] = get_attr[target=layer.weight]
    %mean : [num_users=1] = call_method[target=mean](args = (%layer_weight,), kwargs = {})
    %mul : [num_users=1] = call_function[target=operator.mul](args = (%relu, %mean), kwargs = {})
    return mul

Layers of `nn` are *leaves*, one node a call; the program's own modules are traced through. It sees only what happens to
proxies: an `if` on one of them cannot be decided, a side effect is executed once and lost. That is why Dynamo, on the
same floor, traces bytecode instead.
"""

from __future__ import annotations

import copy
import functools
import inspect
import itertools
import math
from collections import OrderedDict
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any

from minitorch_compile.fx.graph import Graph
from minitorch_compile.fx.patching import Patcher
from minitorch_compile.fx.placeholders import Inputs
from minitorch_compile.fx.proxy import ParameterProxy, Proxy, find_proxy
from minitorch_compile.fx.targets import package
from minitorch_compile.fx.tracer_base import Scope, ScopeContextManager, TracerBase
from minitorch_compile.nn.module import Module
from minitorch_compile.nn.modules.container import Sequential
from minitorch_compile.nn.parameter import Parameter
from minitorch_compile.pytree import TreeSpec
from minitorch_compile.tensor.tensor_base import TensorBase

LEAVES = "minitorch_compile.nn"
# Functions of tensors that are no ops.
PLAIN_FUNCTIONS = ("_assert", "index_put", "is_complex", "is_floating_point", "is_nonzero", "numel", "result_type")
_tracing = 0  # how many traces are under way
_proxyable: dict[type, None] = {}


class Tracer(TracerBase):
    """Traces modules and functions. Subclasses override what it does at a module, an attribute, an argument.

    Functions of `autowrap_modules`, and `autowrap_functions`, are recorded when called with proxies. With
    `param_shapes_constant` a parameter's sizes are numbers while tracing.
    """

    def __init__(
        self,
        autowrap_modules: tuple[ModuleType, ...] = (math,),
        autowrap_functions: tuple[Callable[..., Any], ...] = (),
        param_shapes_constant: bool = False,
    ) -> None:
        members = itertools.chain.from_iterable(vars(module).items() for module in autowrap_modules)
        known = [value for name, value in members if not name.startswith("_") and callable(value)]
        self._autowrap_function_ids = {id(value) for value in (*known, *autowrap_functions)}
        self._autowrap_search = list(autowrap_modules)
        self.param_shapes_constant = param_shapes_constant
        self.submodule_paths: dict[Module, str] | None = None
        self.root_module_name = ""
        self.scope = Scope("", None)
        self.module_stack: OrderedDict[str, tuple[str, Any]] = OrderedDict()
        self.num_calls: dict[str, int] = {}
        self.node_name_to_scope: dict[str, tuple[str, type]] = {}

    # ------------------------------------------------------------------------------------------ to override

    def is_leaf_module(self, m: Module, module_qualified_name: str) -> bool:
        """Whether a call of `m` is one node, and not traced through."""
        module = type(m).__module__
        return (module == LEAVES or module.startswith(LEAVES + ".")) and not isinstance(m, Sequential)

    def call_module(self, m: Module, forward: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What a call of a module becomes: a node, or whatever `forward` returns."""
        path = self.path_of_module(m)
        with ScopeContextManager(self.scope, Scope(path, type(m))) as scope:
            calls = self.num_calls.get(path, 0)
            key = f"{scope.module_path}@{calls}" if calls else scope.module_path
            self.module_stack[key] = (path, scope.module_type)
            self.num_calls[path] = calls + 1
            if self.is_leaf_module(m, path):
                result = self.create_proxy("call_module", path, args, kwargs)
            else:
                result = forward(*args, **kwargs)
            self.module_stack.popitem(last=True)
        return result

    def getattr(self, attr: str, attr_val: Any, parameter_proxy_cache: dict[str, Proxy]) -> Any:
        """What an attribute of a module becomes: for parameters, a proxy."""
        named: Any
        if isinstance(attr_val, Parameter):
            named = self.root.named_parameters()
        elif self.proxy_buffer_attributes and isinstance(attr_val, TensorBase):
            named = self.root.named_buffers()
        else:
            return attr_val
        name = next((name for name, value in named if value is attr_val), None)
        if name is None:
            return attr_val
        if name not in parameter_proxy_cache:
            options: dict[str, Any] = {}
            if self.param_shapes_constant and "proxy_factory_fn" in inspect.signature(self.create_proxy).parameters:
                options["proxy_factory_fn"] = lambda node: ParameterProxy(self, node, name, attr_val)
            parameter_proxy_cache[name] = self.create_proxy("get_attr", name, (), {}, **options)
        return parameter_proxy_cache[name]

    def create_arg(self, a: Any) -> Any:
        """As that of the base; parameters, modules and constant tensors become get_attr nodes."""
        if isinstance(a, Proxy):
            return a.node
        if isinstance(a, (TensorBase, Module)):
            return self.create_node("get_attr", self._name_of(a), (), {})
        if isinstance(a, TreeSpec):
            return self.create_node("get_attr", self._constant(a, "_tree_spec_constant"), (), {})
        if isinstance(a, tuple) and hasattr(a, "_fields"):
            return self.create_node("call_function", type(a), tuple(map(self.create_arg, a)), {})
        if type(a) in _proxyable:  # made outside
            return self.create_node("get_attr", self._constant(a, f"_{type(a).__name__}_constant_"), (), {})
        return super().create_arg(a)

    def create_args_for_root(
        self, root_fn: Callable[..., Any], is_module: bool, concrete_args: Any = None
    ) -> tuple[Callable[..., Any], list[Any]]:
        """The function to call, and what to call it with."""
        return Inputs(self, root_fn, is_module, concrete_args).prepared()

    # ------------------------------------------------------------------------------------------ names

    def path_of_module(self, mod: Module) -> str:
        """The dotted name of a module in the one that is traced. NameError if it isn't in there."""
        for name, module in self.root.named_modules():
            if module is mod:
                return name
        raise NameError("module is not installed as a submodule")

    def get_fresh_qualname(self, prefix: str) -> str:
        """`prefix` with the smallest number that makes it a new attribute of the root."""
        return next(name for i in itertools.count() if not hasattr(self.root, name := f"{prefix}{i}"))

    def _name_of(self, value: Any) -> str:
        """The dotted name of a tensor or module in the root; a tensor from elsewhere becomes a constant of it."""
        if isinstance(value, Module):
            return self.path_of_module(value)
        named = self.root.named_parameters() if isinstance(value, Parameter) else self.root.named_buffers()
        for name, each in named:
            if each is value:
                return name
        if isinstance(value, Parameter):
            raise NameError("parameter is not a member of this module")
        for path, module in self.root.named_modules():
            for name, each in vars(module).items():
                if each is value:
                    return f"{path}.{name}" if path else name
        return self._constant(value, "_tensor_constant")

    def _constant(self, value: Any, prefix: str) -> str:
        name = self.get_fresh_qualname(prefix)
        object.__setattr__(self.root, name, value)
        return name

    # ------------------------------------------------------------------------------------------ tracing

    def trace(self, root: Module | Callable[..., Any], concrete_args: dict[str, Any] | None = None) -> Graph:
        """The graph of a module or a function. `self.root` has the tensors that it refers to."""
        global _tracing
        if not isinstance(root, Module) and not isinstance(root, FunctionType):
            raise AssertionError(f"Expected FunctionType, got {type(root)}")
        self.root = root if isinstance(root, Module) else Module()
        fn = self._function_of(root)
        self.graph = Graph(tracer_cls=type(self))
        _tracing += 1
        try:
            place = fn.__globals__
            function, args = self.create_args_for_root(fn, isinstance(root, Module), concrete_args)
            with Patcher() as patcher:
                self._patch(patcher, place)
                result = self.create_arg(function(*args))
                returns = inspect.unwrap(fn).__annotations__.get("return")
                self.create_node("output", "output", (result,), {}, type_expr=returns)
        finally:
            _tracing -= 1
        return self.graph

    def _function_of(self, root: Any) -> Any:
        if not isinstance(root, Module):
            return root
        self.root_module_name = root._get_name()
        own = vars(root).get(self.traced_func_name) or (
            root.forward
            if "forward" in vars(type(root)) and isinstance(vars(type(root))["forward"], property)
            else None
        )
        if own is not None:  # as a graph module has it
            return getattr(own, "__func__", own)
        if not hasattr(type(root), self.traced_func_name):
            raise AssertionError(f"traced_func_name={self.traced_func_name} doesn't exist in {type(root).__name__}")
        return getattr(type(root), self.traced_func_name)

    def _patch(self, patcher: Patcher, place: dict[str, Any]) -> None:
        """Lets the tracer see calls of modules and of known functions, and parameters that are asked for."""
        proxies: dict[str, Proxy] = {}
        original_getattr, original_call = Module.__getattr__, Module.__call__

        @functools.wraps(original_getattr)
        def module_getattr(mod: Module, attr: str) -> Any:
            return self.getattr(attr, original_getattr(mod, attr), proxies)

        @functools.wraps(original_call)
        def module_call(mod: Module, *args: Any, **kwargs: Any) -> Any:
            place = getattr(getattr(mod, "forward", mod), "__globals__", {})
            patcher.wrap_known(place, self._autowrap_function_ids)
            return self.call_module(mod, functools.partial(original_call, mod), args, kwargs)

        patcher.patch_method(Module, "__getattr__", module_getattr)
        patcher.patch_method(Module, "__call__", module_call)
        patcher.wrap_all(vars(package()), PLAIN_FUNCTIONS)
        patcher.wrap_asked_for()
        for each in (place, *map(vars, self._autowrap_search)):
            patcher.wrap_known(each, self._autowrap_function_ids)

    def __deepcopy__(self, memo: dict[int, Any]) -> Tracer:
        duplicate = type(self).__new__(type(self))
        shared = ("_autowrap_search",)  # modules, which can't be copied
        for name, value in vars(self).items():
            vars(duplicate)[name] = copy.copy(value) if name in shared else copy.deepcopy(value, memo)
        return duplicate


def is_fx_symbolic_tracing() -> bool:
    """Whether a tracer is running a program."""
    return _tracing > 0


is_fx_tracing = is_fx_symbolic_tracing


class ProxyableClassMeta(type):
    """The metaclass of classes whose construction from proxies becomes a node."""

    def __init__(cls, name: str, bases: tuple[type, ...], attrs: dict[str, Any]) -> None:
        _proxyable.setdefault(cls)
        super().__init__(name, bases, attrs)

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        proxy = find_proxy(args, kwargs) if _tracing else None
        if proxy is None:
            return super().__call__(*args, **kwargs)
        return proxy.tracer.create_proxy("call_function", cls, args, kwargs)
