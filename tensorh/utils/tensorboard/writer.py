"""torch.utils.tensorboard.writer: SummaryWriter."""

import math
import os
import socket
import time

import tensorh as torch

from . import summary as make
from ._proto import encode
from .record import FileWriter

__all__ = ["FileWriter", "SummaryWriter"]


class SummaryWriter:
    """Writes event files for TensorBoard into log_dir, by default runs/<date>_<host><comment>.

    purge_step: TensorBoard hides what an ended run wrote from that step on. After max_queue
    entries, or flush_secs after the last time, what waits is written by the next add_..; close()
    and the end of the program write it, too. After close() an add_.. begins another file."""

    def __init__(
        self,
        log_dir=None,
        comment="",
        purge_step=None,
        max_queue=10,
        flush_secs=120,
        filename_suffix="",
    ):
        if not log_dir:
            now = time.strftime("%b%d_%H-%M-%S")
            log_dir = os.path.join("runs", f"{now}_{socket.gethostname()}{comment}")
        self.log_dir = os.fspath(log_dir)
        self.purge_step, self.max_queue, self.flush_secs = purge_step, max_queue, flush_secs
        self.filename_suffix = filename_suffix
        self.file_writer = self.all_writers = None
        self._get_file_writer()
        self.default_bins = make.default_bins()

    def _open(self, folder):
        return FileWriter(folder, self.max_queue, self.flush_secs, self.filename_suffix)

    def _get_file_writer(self):
        if self.file_writer is None:
            self.file_writer = writer = self._open(self.log_dir)
            self.all_writers = {self.log_dir: writer}
            if self.purge_step is not None:
                started = encode("SessionLog", status=1)
                for event in ({"file_version": "brain.Event:2"}, {"session_log": started}):
                    writer.add_event(encode("Event", **event), self.purge_step)
                self.purge_step = None
        return self.file_writer

    def get_logdir(self):
        """The folder of the event files."""
        return self.log_dir

    def _add(self, summary, step=None, walltime=None):
        self._get_file_writer().add_summary(summary, step, walltime)

    def add_scalar(
        self,
        tag,
        scalar_value,
        global_step=None,
        walltime=None,
        new_style=False,
        double_precision=False,
    ):
        """One number at a step."""
        summary = make.scalar(
            tag, scalar_value, new_style=new_style, double_precision=double_precision
        )
        self._add(summary, global_step, walltime)

    def add_scalars(self, main_tag, tag_scalar_dict, global_step=None, walltime=None):
        """Several numbers in one chart: each has a folder and a file of its own."""
        walltime = time.time() if walltime is None else walltime
        self._get_file_writer()
        for tag, value in tag_scalar_dict.items():
            folder = f"{self.log_dir}/{main_tag.replace('/', '_')}_{tag}"
            summary = make.scalar(main_tag, value)
            if folder not in self.all_writers:
                self.all_writers[folder] = self._open(folder)
            self.all_writers[folder].add_summary(summary, global_step, walltime)

    def add_tensor(self, tag, tensor, global_step=None, walltime=None):
        """All elements of a tensor."""
        self._add(make.tensor_proto(tag, tensor), global_step, walltime)

    def add_histogram(
        self, tag, values, global_step=None, bins="tensorflow", walltime=None, max_bins=None
    ):
        """How values are distributed. bins: "tensorflow", a number, limits, or a rule of NumPy."""
        if isinstance(bins, str) and bins == "tensorflow":
            bins = self.default_bins
        self._add(make.histogram(tag, values, bins, max_bins), global_step, walltime)

    def add_histogram_raw(
        self,
        tag,
        min,  # noqa: A002 - torch's names
        max,  # noqa: A002
        num,
        sum,  # noqa: A002
        sum_squares,
        bucket_limits,
        bucket_counts,
        global_step=None,
        walltime=None,
    ):
        """A histogram that is computed already."""
        if len(bucket_limits) != len(bucket_counts):
            raise ValueError("len(bucket_limits) != len(bucket_counts), see the document.")
        summary = make.histogram_raw(
            tag, min, max, num, sum, sum_squares, bucket_limits, bucket_counts
        )
        self._add(summary, global_step, walltime)

    def add_image(self, tag, img_tensor, global_step=None, walltime=None, dataformats="CHW"):
        """A picture: uint8, or numbers from 0 to 1; of 1 to 4 channels."""
        self._add(make.image(tag, img_tensor, dataformats), global_step, walltime)

    def add_images(self, tag, img_tensor, global_step=None, walltime=None, dataformats="NCHW"):
        """Several pictures as one, eight a row."""
        self._add(make.image(tag, img_tensor, dataformats), global_step, walltime)

    def add_image_with_boxes(
        self,
        tag,
        img_tensor,
        box_tensor,
        global_step=None,
        walltime=None,
        rescale=1,
        dataformats="CHW",
        labels=None,
    ):
        """A picture with boxes (n, 4) of left, top, right and bottom. Labels are refused, for there
        is no font here; so is a rescale."""
        if labels is not None or rescale != 1:
            raise NotImplementedError("add_image_with_boxes: labels and rescale are not drawn here")
        summary = make.image_boxes(tag, img_tensor, box_tensor, dataformats)
        self._add(summary, global_step, walltime)

    def add_figure(self, tag, figure, global_step=None, close=True, walltime=None):
        """A figure of Matplotlib, which must be there, or a list of them."""
        from matplotlib import pyplot
        from matplotlib.backends.backend_agg import FigureCanvasAgg

        def drawn(f):
            canvas = FigureCanvasAgg(f)
            canvas.draw()
            w, h = canvas.get_width_height()
            pixels = torch.tensor(bytearray(canvas.buffer_rgba()), dtype=torch.uint8)
            if close:
                pyplot.close(f)
            return pixels.reshape(h, w, 4)[..., :3]

        if isinstance(figure, list):
            all_of_them = torch.stack([drawn(f) for f in figure])
            self.add_images(tag, all_of_them, global_step, walltime, dataformats="NHWC")
        else:
            self.add_image(tag, drawn(figure), global_step, walltime, dataformats="HWC")

    def add_audio(self, tag, snd_tensor, global_step=None, sample_rate=44100, walltime=None):
        """A sound of one channel, (1, n) or (n), from -1 to 1."""
        self._add(make.audio(tag, snd_tensor, sample_rate), global_step, walltime)

    def add_text(self, tag, text_string, global_step=None, walltime=None):
        """A text, which TensorBoard reads as Markdown."""
        self._add(make.text(tag, text_string), global_step, walltime)

    def add_pr_curve(
        self,
        tag,
        labels,
        predictions,
        global_step=None,
        num_thresholds=127,
        weights=None,
        walltime=None,
    ):
        """Precision and recall of predictions from 0 to 1 where labels are 0 or 1."""
        summary = make.pr_curve(tag, labels, predictions, num_thresholds, weights)
        self._add(summary, global_step, walltime)

    def add_pr_curve_raw(
        self,
        tag,
        true_positive_counts,
        false_positive_counts,
        true_negative_counts,
        false_negative_counts,
        precision,
        recall,
        global_step=None,
        num_thresholds=127,
        weights=None,
        walltime=None,
    ):
        """Such a curve, computed already."""
        summary = make.pr_curve_raw(
            tag,
            true_positive_counts,
            false_positive_counts,
            true_negative_counts,
            false_negative_counts,
            precision,
            recall,
            num_thresholds,
        )
        self._add(summary, global_step, walltime)

    def add_custom_scalars(self, layout):
        """A page of charts: {category: {chart: ["Multiline" or "Margin", tags]}}."""
        self._add(make.custom_scalars(layout))

    def add_custom_scalars_multilinechart(self, tags, category="default", title="untitled"):
        """One chart with a line for each tag."""
        self.add_custom_scalars({category: {title: ["Multiline", tags]}})

    def add_custom_scalars_marginchart(self, tags, category="default", title="untitled"):
        """One chart of three tags: a value, what lies below, and above."""
        if len(tags) != 3:
            raise AssertionError(f"Expected 3 tags, got {len(tags)}.")
        self.add_custom_scalars({category: {title: ["Margin", tags]}})

    def add_mesh(
        self,
        tag,
        vertices,
        colors=None,
        faces=None,
        config_dict=None,
        global_step=None,
        walltime=None,
    ):
        """Points (b, n, 3) with colors and faces."""
        self._add(make.mesh(tag, vertices, colors, faces, config_dict), global_step, walltime)

    def add_hparams(
        self,
        hparam_dict,
        metric_dict,
        hparam_domain_discrete=None,
        run_name=None,
        global_step=None,
    ):
        """What a run was given, and what came out, in a folder below log_dir named run_name."""
        if type(hparam_dict) is not dict or type(metric_dict) is not dict:
            raise TypeError("hparam_dict and metric_dict should be dictionary.")
        summaries = make.hparams(hparam_dict, metric_dict, hparam_domain_discrete)
        folder = os.path.join(self.log_dir, run_name or str(time.time()))
        with SummaryWriter(folder) as writer:
            for summary in summaries:
                writer._add(summary, global_step)
            for tag, value in metric_dict.items():
                writer.add_scalar(tag, value, global_step)

    def add_embedding(
        self,
        mat,
        metadata=None,
        label_img=None,
        global_step=None,
        tag="default",
        metadata_header=None,
    ):
        """Points (n, d) for TensorBoard's projector, with labels and pictures of them."""
        mat, step = make.to_tensor(mat), str(global_step or 0).zfill(5)
        if mat.ndim != 2:
            raise AssertionError(
                "mat should be 2D, where mat.size(0) is the number of data points"
            )
        for what, given in (("labels", metadata), ("images", label_img)):
            if given is not None and len(given) != len(mat):
                raise AssertionError(f"#{what} should equal with #data points")
        if metadata is not None and metadata_header and len(metadata_header) != len(metadata[0]):
            raise AssertionError("len of header must be equal to the number of columns in metadata")
        escaped = "".join(f"%{ord(c):02x}" if c in "%/\\" else c for c in tag)
        folder = os.path.join(self.log_dir, step, escaped)
        os.makedirs(folder, exist_ok=True)
        entry = {"tensor_name": f"{tag}:{step}", "tensor_path": f"{step}/{escaped}/tensors.tsv"}
        _write_lines(folder, "tensors.tsv", ("\t".join(map(str, r)) for r in mat.tolist()))
        if metadata is not None:
            rows = [metadata_header, *metadata] if metadata_header else metadata
            lines = ("\t".join(map(str, r)) if metadata_header else str(r) for r in rows)
            _write_lines(folder, "metadata.tsv", lines)
            entry["metadata_path"] = f"{step}/{escaped}/metadata.tsv"
        if label_img is not None:
            with open(os.path.join(folder, "sprite.png"), "wb") as f:
                f.write(make.png(_sprite(label_img)))
            entry["sprite"] = (f"{step}/{escaped}/sprite.png", *label_img.shape[:1:-1])
        self._projector = [*getattr(self, "_projector", ()), entry]
        config = (line for e in self._projector for line in _projected(e))
        _write_lines(self.log_dir, "projector_config.pbtxt", config)

    def add_graph(self, *args, **kwargs):
        """Refused: a graph needs a program that is traced, which this package does not do."""
        raise NotImplementedError("add_graph: programs are not traced here")

    def add_onnx_graph(self, *args, **kwargs):
        """Refused: there is no ONNX here."""
        raise NotImplementedError("add_onnx_graph: there is no ONNX here")

    def add_video(self, *args, **kwargs):
        """Refused: there is no encoder of videos here."""
        raise NotImplementedError("add_video: there is no encoder of videos; see add_images")

    def flush(self):
        """Writes what waits."""
        for writer in (self.all_writers or {}).values():
            writer.flush()

    def close(self):
        """Writes what waits and closes the files."""
        for writer in (self.all_writers or {}).values():
            writer.close()
        self.file_writer = self.all_writers = None

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.close()


# --- the projector's files ------------------------------------------------------------------------


def _write_lines(folder, name, lines):
    with open(os.path.join(folder, name), "w", encoding="utf-8", newline="\n") as f:
        f.writelines(line + "\n" for line in lines)


def _sprite(images):
    """All pictures in one square, as uint8 (side, side, 3)."""
    grid = make.to_pixels(make.make_grid(make.to_tensor(images), math.isqrt(len(images) - 1) + 1))
    _, h, w = grid.shape
    square = torch.zeros(max(h, w), max(h, w), 3, dtype=torch.uint8)
    square[:h, :w] = grid.permute(1, 2, 0)
    return square


def _projected(entry):
    """The lines of an entry in protobuf's text form."""

    def quoted(text):
        raw = text.encode().decode("latin-1")
        plain = (c if " " <= c <= "~" and c not in '"\\' else f"\\{ord(c):03o}" for c in raw)
        return '"' + "".join(plain) + '"'

    yield "embeddings {"
    for name in ("tensor_name", "tensor_path", "metadata_path"):
        if name in entry:
            yield f"  {name}: {quoted(entry[name])}"
    if "sprite" in entry:
        path, w, h = entry["sprite"]
        sizes = f"single_image_dim: {w} single_image_dim: {h}"
        yield f"  sprite {{ image_path: {quoted(path)} {sizes} }}"
    yield "}"
