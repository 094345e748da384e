"""Programs as graphs: nodes, graph modules, an interpreter, passes and drawings. The API is that of torch.fx."""

from minitorch_compile.fx import codegen, lint  # here, since Graph imports them only when it is asked to
from minitorch_compile.fx.arguments import map_aggregate, map_arg
from minitorch_compile.fx.effects import has_side_effect
from minitorch_compile.fx.graph import Graph
from minitorch_compile.fx.graph_module import GraphModule
from minitorch_compile.fx.interpreter import Interpreter
from minitorch_compile.fx.node import Node
from minitorch_compile.fx.symbolic_trace import Proxy, TraceError, symbolic_trace
