"""What TensorBoard's pages show, as the records that it reads. Each function needs the package tensorboard.

    scalar("loss/train", 0.25)      a point of a curve
    histogram("weights", values)    how values are spread
    image("samples", pixels)        a picture, from an array of (height, width, colours)

>>> edges = bucket_edges()
>>> len(edges), edges[len(edges) // 2]
(1549, 0.0)
"""

from __future__ import annotations

import io
import math
from functools import cache
from typing import Any

import numpy as np

from minitorch_compile.tensor import Tensor
from minitorch_compile.tensor.numerics.dtype import bfloat16


def as_array(values: Any) -> np.ndarray:
    """Numbers, lists and tensors as an array; bfloat16, which TensorBoard doesn't know, as float32."""
    if isinstance(values, (list, tuple)):
        return np.array([as_array(value) for value in values])
    if isinstance(values, Tensor):
        values = values.detach().resolve_conj()
        return (values.float() if values.dtype is bfloat16 else values).numpy()
    return np.asarray(values)


def as_number(value: Any, caller: str) -> float:
    """The number in a 0-d array or a tensor of one element. ValueError for more."""
    array = as_array(value)
    if array.size != 1:
        raise ValueError(f"{caller}: expected one number, got {array.size} in sizes {list(array.shape)}")
    return float(array.reshape(()))


def _plugin(name: str, content: bytes = b"") -> Any:
    from tensorboard.compat.proto.summary_pb2 import SummaryMetadata

    return SummaryMetadata(plugin_data=SummaryMetadata.PluginData(plugin_name=name, content=content))


def _record(**value: Any) -> Any:
    from tensorboard.compat.proto.summary_pb2 import Summary

    return Summary(value=[Summary.Value(**value)])


def scalar(tag: str, value: Any) -> Any:
    """A point of a curve."""
    return _record(tag=tag, simple_value=as_number(value, "add_scalar"))


def text(tag: str, string: str) -> Any:
    """A text, which is read as Markdown."""
    from tensorboard.compat.proto.tensor_pb2 import TensorProto
    from tensorboard.compat.proto.tensor_shape_pb2 import TensorShapeProto

    one = TensorShapeProto(dim=[TensorShapeProto.Dim(size=1)])
    strings = TensorProto(dtype="DT_STRING", string_val=[string.encode()], tensor_shape=one)
    return _record(tag=f"{tag}/text_summary", metadata=_plugin("text"), tensor=strings)


@cache
def bucket_edges() -> tuple[float, ...]:
    """The edges that TensorBoard's own histograms have: each a tenth further from zero than the one before."""
    positive = 1e-12 * 1.1 ** np.arange(math.ceil(math.log(1e32) / math.log(1.1)))
    return (*(-positive[::-1]), 0.0, *positive)


def histogram(tag: str, values: Any, bins: Any = "tensorflow", max_bins: int | None = None) -> Any:
    """How values are spread. `bins` is "tensorflow" or what numpy.histogram takes."""
    from tensorboard.compat.proto.summary_pb2 import HistogramProto

    array = as_array(values).reshape(-1).astype(np.float64)
    if array.size == 0:
        raise ValueError("add_histogram: values has no element")
    counts, edges = np.histogram(array, bins=np.array(bucket_edges()) if bins == "tensorflow" else bins)
    if max_bins is not None and len(counts) > max_bins:
        counts, edges = _merge(counts, edges, math.ceil(len(counts) / max_bins))
    filled = np.flatnonzero(counts)
    if filled.size == 0:
        raise ValueError("add_histogram: no value lies in the bins")
    first, last = filled[0], filled[-1] + 1
    # A bucket is known by its right edge; an empty one before the first says where that begins.
    return _record(
        tag=tag,
        histo=HistogramProto(
            min=array.min(),
            max=array.max(),
            num=array.size,
            sum=array.sum(),
            sum_squares=array.dot(array),
            bucket_limit=edges[first : last + 1].tolist(),
            bucket=[0.0, *counts[first:last].tolist()],
        ),
    )


def _merge(counts: np.ndarray, edges: np.ndarray, together: int) -> tuple[np.ndarray, np.ndarray]:
    """Fewer bins: `together` of them become one."""
    starts = np.arange(0, len(counts), together)
    return np.add.reduceat(counts, starts), np.append(edges[starts], edges[-1])


def image(tag: str, pixels: Any, order: str = "CHW") -> Any:
    """A picture. `order` says what the dimensions are; values are bytes, or floats from 0 to 1. Several pictures (N)
    stand side by side."""
    from PIL import Image
    from tensorboard.compat.proto.summary_pb2 import Summary

    array = as_array(pixels)
    if array.ndim != len(order):
        raise ValueError(f"add_image: dataformats={order!r} has {len(order)} dimensions, the image {array.ndim}")
    scale = 1.0 if array.dtype == np.uint8 else 255.0
    rows = (in_rows(array, order.upper()).astype(np.float32) * scale).clip(0, 255).astype(np.uint8)
    written = io.BytesIO()
    Image.fromarray(rows).save(written, format="PNG")
    height, width, colours = rows.shape
    png = Summary.Image(height=height, width=width, colorspace=colours, encoded_image_string=written.getvalue())
    return _record(tag=tag, image=png)


def in_rows(array: np.ndarray, order: str) -> np.ndarray:
    """A picture as (height, width, colours), with three or four colours.

    >>> in_rows(np.zeros((5, 1, 2, 3)), "NCHW").shape
    (4, 9, 3)
    """
    wanted = "NHWC"
    array = array.reshape(*array.shape, *(1 for missing in wanted if missing not in order))
    array = array.transpose([(order + "".join(c for c in wanted if c not in order)).index(c) for c in wanted])
    count, height, width, _ = array.shape
    if array.shape[-1] == 1:
        array = array.repeat(3, axis=-1)
    across = math.ceil(math.sqrt(count))
    grid = np.zeros((math.ceil(count / across) * height, across * width, array.shape[-1]), array.dtype)
    for i, picture in enumerate(array):
        top, left = i // across * height, i % across * width
        grid[top : top + height, left : left + width] = picture
    return grid


def hyperparameters(values: dict[str, Any], metrics: dict[str, Any]) -> list[Any]:
    """The three records of TensorBoard's page of hyperparameters: which there are, their values, that it went well."""
    from tensorboard.plugins.hparams import api_pb2, metadata, plugin_data_pb2

    start, infos = plugin_data_pb2.SessionStartInfo(), []
    for name, value in values.items():
        if value is None:
            continue
        kind = "BOOL" if isinstance(value, bool) else "STRING" if isinstance(value, str) else "FLOAT64"
        field = {"BOOL": "bool_value", "STRING": "string_value", "FLOAT64": "number_value"}[kind]
        setattr(start.hparams[name], field, as_number(value, "add_hparams") if kind == "FLOAT64" else value)
        infos.append(api_pb2.HParamInfo(name=name, type=api_pb2.DataType.Value(f"DATA_TYPE_{kind}")))
    named = [api_pb2.MetricInfo(name=api_pb2.MetricName(tag=name)) for name in metrics]
    parts = (
        (metadata.EXPERIMENT_TAG, {"experiment": api_pb2.Experiment(hparam_infos=infos, metric_infos=named)}),
        (metadata.SESSION_START_INFO_TAG, {"session_start_info": start}),
        (
            metadata.SESSION_END_INFO_TAG,
            {"session_end_info": plugin_data_pb2.SessionEndInfo(status=api_pb2.Status.Value("STATUS_SUCCESS"))},
        ),
    )
    return [
        _record(
            tag=tag,
            metadata=_plugin(
                metadata.PLUGIN_NAME,
                plugin_data_pb2.HParamsPluginData(version=metadata.PLUGIN_DATA_VERSION, **part).SerializeToString(),
            ),
        )
        for tag, part in parts
    ]
