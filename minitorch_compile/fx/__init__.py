"""Programs as graphs: nodes, graph modules, an interpreter, passes and drawings. The API is that of torch.fx."""

import importlib

from minitorch_compile.fx import codegen, immutable_collections, lint  # here, since Graph imports them only when asked
from minitorch_compile.fx.arguments import map_aggregate, map_arg
from minitorch_compile.fx.code_generator import CodeGen
from minitorch_compile.fx.effects import has_side_effect
from minitorch_compile.fx.graph import Graph
from minitorch_compile.fx.graph_module import GraphModule
from minitorch_compile.fx.interpreter import Interpreter
from minitorch_compile.fx.node import Node
from minitorch_compile.fx.patching import wrap
from minitorch_compile.fx.placeholders import PH
from minitorch_compile.fx.proxy import Proxy, TraceError
from minitorch_compile.fx.subgraph_rewriter import replace_pattern
from minitorch_compile.fx.symbolic_trace import symbolic_trace
from minitorch_compile.fx.tracer import ProxyableClassMeta, Tracer
from minitorch_compile.fx.transformer import Transformer

_symbolic_trace = importlib.import_module("minitorch_compile.fx.symbolic_trace")  # whose name here is the function's
