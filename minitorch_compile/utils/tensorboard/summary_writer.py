"""SummaryWriter: what a training program tells TensorBoard, in files that tensorboard's own writer makes.

    with SummaryWriter("runs/first") as writer:
        for step, loss in enumerate(losses):
            writer.add_scalar("loss", loss, step)

>>> [name for name in vars(SummaryWriter) if name.startswith("add_")][:3]
['add_scalar', 'add_scalars', 'add_histogram']
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from types import TracebackType
from typing import Any

from minitorch_compile.utils.tensorboard import records
from minitorch_compile.utils.tensorboard.embeddings import Embedding, write_embedding
from minitorch_compile.utils.tensorboard.graph_record import graph


class FileWriter:
    """One file of events, in a folder."""

    def __init__(self, log_dir: Any, max_queue: int = 10, flush_secs: int = 120, filename_suffix: str = "") -> None:
        from tensorboard.summary.writer.event_file_writer import EventFileWriter

        self.event_writer = EventFileWriter(os.fspath(log_dir), max_queue, flush_secs, filename_suffix)

    def get_logdir(self) -> str:
        """The folder."""
        return self.event_writer.get_logdir()

    def add_event(self, event: Any, step: int | None = None, walltime: float | None = None) -> None:
        """Writes an event that tensorboard's classes made."""
        event.wall_time = time.time() if walltime is None else walltime
        if step is not None:
            event.step = int(step)
        self.event_writer.add_event(event)

    def add_summary(self, summary: Any, global_step: int | None = None, walltime: float | None = None) -> None:
        """Writes a record."""
        from tensorboard.compat.proto.event_pb2 import Event

        self.add_event(Event(summary=summary), global_step, walltime)

    def add_graph(self, graph_profile: tuple[Any, Any], walltime: float | None = None) -> None:
        """Writes a GraphDef, and the RunMetadata of its run."""
        from tensorboard.compat.proto.event_pb2 import Event, TaggedRunMetadata

        nodes, stats = graph_profile
        self.add_event(Event(graph_def=nodes.SerializeToString()), None, walltime)
        run = TaggedRunMetadata(tag="step1", run_metadata=stats.SerializeToString())
        self.add_event(Event(tagged_run_metadata=run), None, walltime)

    def flush(self) -> None:
        """Everything so far is in the file when this returns."""
        self.event_writer.flush()

    def close(self) -> None:
        """Ends the file."""
        self.event_writer.close()


class SummaryWriter:
    """Writes curves, histograms, pictures and texts to a folder, `runs/<time>_<machine><comment>` by default.

    The steps of `purge_step` and after it, of an earlier run in the same folder, are not shown any more.
    """

    def __init__(
        self,
        log_dir: Any = None,
        comment: str = "",
        purge_step: int | None = None,
        max_queue: int = 10,
        flush_secs: int = 120,
        filename_suffix: str = "",
    ) -> None:
        now = datetime.now().strftime("%b%d_%H-%M-%S")
        self.log_dir = os.fspath(log_dir or os.path.join("runs", f"{now}_{socket.gethostname()}{comment}"))
        self._how = (max_queue, flush_secs, filename_suffix)
        self._writers: dict[str, FileWriter] = {}
        self._embeddings: list[Embedding] = []
        writer = self._writer()
        if purge_step is not None:
            from tensorboard.compat.proto.event_pb2 import Event, SessionLog

            writer.add_event(Event(file_version="brain.Event:2"), purge_step)
            writer.add_event(Event(session_log=SessionLog(status=SessionLog.START)), purge_step)

    def get_logdir(self) -> str:
        """The folder."""
        return self.log_dir

    def _writer(self, folder: str | None = None) -> FileWriter:
        """The writer of a folder, made when it is first used, or used again after close()."""
        folder = folder or self.log_dir
        if folder not in self._writers:
            self._writers[folder] = FileWriter(folder, *self._how)
        return self._writers[folder]

    # ---------------------------------------------------------------------------------------------- what is told

    def add_scalar(
        self,
        tag: str,
        scalar_value: Any,
        global_step: int | None = None,
        walltime: float | None = None,
        new_style: bool = False,
        double_precision: bool = False,
    ) -> None:
        """A point of a curve: a number, or a tensor of one element."""
        self._writer().add_summary(records.scalar(tag, scalar_value), global_step, walltime)

    def add_scalars(
        self,
        main_tag: str,
        tag_scalar_dict: dict[str, Any],
        global_step: int | None = None,
        walltime: float | None = None,
    ) -> None:
        """A point of each of several curves, which are drawn together. Each has a folder of its own."""
        for name, value in tag_scalar_dict.items():
            folder = os.path.join(self.log_dir, f"{main_tag}_{name}".replace("/", "_"))
            self._writer(folder).add_summary(records.scalar(main_tag, value), global_step, walltime)

    def add_histogram(
        self,
        tag: str,
        values: Any,
        global_step: int | None = None,
        bins: Any = "tensorflow",
        walltime: float | None = None,
        max_bins: int | None = None,
    ) -> None:
        """How values are spread."""
        self._writer().add_summary(records.histogram(tag, values, bins, max_bins), global_step, walltime)

    def add_image(
        self,
        tag: str,
        img_tensor: Any,
        global_step: int | None = None,
        walltime: float | None = None,
        dataformats: str = "CHW",
    ) -> None:
        """A picture: bytes, or floats from 0 to 1."""
        self._writer().add_summary(records.image(tag, img_tensor, dataformats), global_step, walltime)

    def add_images(
        self,
        tag: str,
        img_tensor: Any,
        global_step: int | None = None,
        walltime: float | None = None,
        dataformats: str = "NCHW",
    ) -> None:
        """Several pictures, side by side."""
        self.add_image(tag, img_tensor, global_step, walltime, dataformats)

    def add_figure(
        self, tag: str, figure: Any, global_step: int | None = None, close: bool = True, walltime: float | None = None
    ) -> None:
        """A figure of matplotlib, or several."""
        import numpy as np
        from matplotlib import pyplot
        from matplotlib.backends.backend_agg import FigureCanvasAgg

        for one in figure if isinstance(figure, list) else [figure]:
            canvas = FigureCanvasAgg(one)
            canvas.draw()
            self.add_image(tag, np.asarray(canvas.buffer_rgba()), global_step, walltime, "HWC")
            if close:
                pyplot.close(one)

    def add_text(
        self, tag: str, text_string: str, global_step: int | None = None, walltime: float | None = None
    ) -> None:
        """A text, which is read as Markdown."""
        self._writer().add_summary(records.text(tag, text_string), global_step, walltime)

    def add_hparams(
        self,
        hparam_dict: dict[str, Any],
        metric_dict: dict[str, Any],
        hparam_domain_discrete: Any = None,
        run_name: str | None = None,
        global_step: int | None = None,
    ) -> None:
        """The hyperparameters of a run, and what came out. Each run has a folder of its own."""
        if not isinstance(hparam_dict, dict) or not isinstance(metric_dict, dict):
            raise TypeError("add_hparams: hparam_dict and metric_dict should be dictionaries")
        with self._aside(os.path.join(self.log_dir, run_name or str(time.time()))) as writer:
            for record in records.hyperparameters(hparam_dict, metric_dict):
                writer.add_summary(record)
            for tag, value in metric_dict.items():
                writer.add_summary(records.scalar(tag, value), global_step)

    @contextmanager
    def _aside(self, folder: str) -> Iterator[FileWriter]:
        """A writer for a moment."""
        writer = FileWriter(folder, *self._how)
        try:
            yield writer
        finally:
            writer.close()

    def add_graph(
        self, model: Any, input_to_model: Any = None, verbose: bool = False, use_strict_trace: bool = True
    ) -> None:
        """The model's operations, in boxes for its modules: it is traced in evaluation mode with `input_to_model`, a
        tensor or a tuple of them. `verbose` prints the trace; `use_strict_trace` is `strict` of torch.jit.trace."""
        self._writer().add_graph(graph(model, input_to_model, verbose, use_strict_trace))

    def add_embedding(
        self,
        mat: Any,
        metadata: Any = None,
        label_img: Any = None,
        global_step: int | None = None,
        tag: str = "default",
        metadata_header: Any = None,
    ) -> None:
        """Points for the projector, one a row of `mat`, with labels and pictures (N, C, H, W) of them.

        `metadata_header`: the names of the columns, if each label is a row of several.
        """
        step, log_dir = str(global_step or 0).zfill(5), self._writer().get_logdir()
        folder = step + "/" + tag.replace("%", "%25").replace("/", "%2f").replace("\\", "%5c")
        self._embeddings.append(
            write_embedding(log_dir, folder, f"{tag}:{step}", mat, metadata, label_img, metadata_header)
        )
        with open(os.path.join(log_dir, "projector_config.pbtxt"), "w", encoding="utf-8") as file:
            file.writelines(embedding.entry() for embedding in self._embeddings)

    # ---------------------------------------------------------------------------------------------- the end

    def flush(self) -> None:
        """Everything so far is in the files when this returns."""
        for writer in self._writers.values():
            writer.flush()

    def close(self) -> None:
        """Ends the files; what is added later begins new ones."""
        for writer in self._writers.values():
            writer.close()
        self._writers = {}

    def __enter__(self) -> SummaryWriter:
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self.close()
