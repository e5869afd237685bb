"""Videos and folders of images as matrices: a row a frame, a column a pixel (PyAV, an extra)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pygeco.errors import ReadError
from pygeco.io.columns import explain_parse_errors
from pygeco.io.sources import Progress, check_growth

VIDEOS = (".avi", ".mp4", ".mkv", ".mov", ".webm", ".mpg", ".mpeg", ".m4v", ".wmv", ".gif")
IMAGES = (".png", ".jpg", ".jpeg", ".bmp", ".tif", ".tiff", ".webp")
# What is decoded, whatever the name of the file: lists of other files and addresses are not.
FORMATS = (
    *("avi", "mov", "matroska", "mpeg", "mpegts", "mpegvideo", "asf", "gif", "gif_pipe", "apng"),
    *("png_pipe", "jpeg_pipe", "bmp_pipe", "tiff_pipe", "webp_pipe", "webp"),
)
MAX_PIXELS = 1 << 26  # of one picture, at most
STILL_SCENE_GROWTH = 1000  # a film of a still scene is this much smaller than its pixels
Bytes = NDArray[np.uint8]


class Film(NamedTuple):
    """Gray frames: `pixels` (frames, height × width), and a name for each where it has one."""

    pixels: Bytes
    shape: tuple[int, int]
    rate: float
    names: list[str]


def read_film(path: str | os.PathLike[str], progress: Progress | None = None) -> Film:
    """The frames of a video, or of the images of a folder in the order of their names."""
    source = Path(path)
    return _folder(source, progress) if source.is_dir() else _video(source, progress)


def write_video(file: BinaryIO, frames: Iterable[Bytes], rate: float) -> None:
    """Gray frames (height, width) as an MP4 that browsers play."""
    av = _av()
    with av.open(file, "w", format="mp4") as film:
        stream = None
        for frame in frames:
            even = frame[: max(2, frame.shape[0] & ~1), : max(2, frame.shape[1] & ~1)]
            if stream is None:
                stream = film.add_stream("libx264", rate=max(1, round(rate)), options={"crf": "20"})
                stream.height, stream.width = even.shape
                stream.pix_fmt = "yuv420p"
            picture = av.VideoFrame.from_ndarray(np.ascontiguousarray(even), format="gray")
            film.mux(stream.encode(picture))
        if stream is not None:
            film.mux(stream.encode())


def write_image(file: BinaryIO, picture: Bytes) -> None:
    """One gray picture as a PNG."""
    av = _av()
    codec = av.CodecContext.create("png", "w")
    codec.height, codec.width = picture.shape
    codec.pix_fmt, codec.framerate = "gray", 1
    frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(picture), format="gray")
    for packet in [*codec.encode(frame), *codec.encode(None)]:
        file.write(bytes(packet))


def _video(path: Path, progress: Progress | None) -> Film:
    pictures: list[Bytes] = []
    with _opened(path) as film:
        stream = film.streams.video[0]
        rate = float(stream.average_rate or 25)
        size = path.stat().st_size
        for frame in film.decode(video=0):
            check_growth(
                str(path), size, frame.width * frame.height * len(pictures), STILL_SCENE_GROWTH
            )
            pictures.append(frame.to_ndarray(format="gray"))
            if progress is not None:
                progress(len(pictures) / max(int(stream.frames), len(pictures)))
    if not pictures:
        raise ReadError(f"{path} has no frames; give another video.")
    return _stack_frames(pictures, [f"frame {t}" for t in range(len(pictures))], path, rate)


def _folder(path: Path, progress: Progress | None) -> Film:
    files = sorted(one for one in path.iterdir() if one.suffix.lower() in IMAGES)
    if not files:
        raise ReadError(f"{path} holds no images ({', '.join(IMAGES)}); give another folder.")
    pictures = []
    for file in files:
        with _opened(file) as image:
            frame = next(iter(image.decode(video=0)), None)
            if frame is None:
                raise ReadError(f"{file} has no picture in it; take it out of the folder.")
            pictures.append(frame.to_ndarray(format="gray"))
        if progress is not None:
            progress(len(pictures) / len(files))
    return _stack_frames(pictures, [file.name for file in files], path, 5.0)


def _stack_frames(pictures: list[Bytes], names: list[str], path: Path, rate: float) -> Film:
    shape = pictures[0].shape
    for name, picture in zip(names, pictures, strict=True):
        if picture.shape != shape:
            raise ReadError(
                f"{path}: {name} has {picture.shape[1]} × {picture.shape[0]} pixels, {names[0]} "
                f"{shape[1]} × {shape[0]}; all pictures must be of one size."
            )
    pixels = np.stack([picture.reshape(-1) for picture in pictures])
    return Film(pixels, (shape[0], shape[1]), rate, names)


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """The file, open to be decoded; whatever goes wrong there as one sentence.

    The decoder is given an open file, for it would take some names for addresses or patterns.
    """
    av = _av()
    allowed = {"format_whitelist": ",".join(FORMATS), "max_pixels": str(MAX_PIXELS)}
    with path.open("rb") as file, explain_parse_errors(str(path)):
        try:
            with av.open(file, options=allowed) as film:
                if not film.streams.video:
                    raise ReadError(f"{path} has no pictures in it; give a video or an image.")
                film.streams.video[0].codec_context.options = {"max_pixels": str(MAX_PIXELS)}
                yield film
        except av.FFmpegError as error:
            raise ReadError(f"{path} cannot be decoded: {error.strerror}.") from error


def _av() -> Any:
    try:
        import av
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "videos and images need an extra; run: pip install 'pygeco[video]'", name="av"
        ) from error
    return av
