"""Small valid files of every format that is read, and what reads each of them."""

import bz2
import gzip
import io
import json
import lzma
import os
import resource
import shutil
import struct
import warnings
import zipfile
import zlib
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.ipc
import pyarrow.parquet
import scipy.io
import scipy.sparse as sp

import pygeco
from pygeco import Attributes, MatrixCompletion, ModelFileError, RobustPCA, Trace
from pygeco.arrays import container
from pygeco.data import load_movielens, read_attributes, read_ratings
from pygeco.errors import AttributeWarning, ColumnError, ReadError
from pygeco.estimators._checkpoint import Checkpoint, take_kept_steps
from pygeco.io.matrices import read_array, read_table
from pygeco.io.model_file import describe
from pygeco.io.parquet_parts import plan_parts, read_footer, read_rows
from pygeco.io.pictures import read_film, write_image, write_video
from pygeco.io.titles import read_titles

# What a file may lead to, beside what the system says of one that is not there.
DOCUMENTED = (ReadError, ColumnError, ModelFileError)

RNG = np.random.default_rng(0)
USERS, ITEMS = RNG.integers(1, 9, 30), RNG.integers(1, 9, 30)
STARS = RNG.integers(1, 11, 30) / 2
TABLE = pa.table({"userId": USERS, "item id": [f"it,em {k}é" for k in ITEMS], "rating": STARS})
PLAIN = pa.table({"user": USERS, "item": ITEMS, "rating": STARS})


class Target(NamedTuple):
    """A reader of a path; the ending of the path; valid files; how inputs become files."""

    read: Callable[[Path], object]
    ending: str
    seeds: Callable[[], list[bytes]]
    pack: tuple[Callable[[bytes], bytes], ...] = (bytes,)


def pack(kind: str, content: bytes) -> bytes:
    """The content as a program of this kind of compression leaves it."""
    if kind == "xz":
        return lzma.compress(content)
    if kind == "zip":
        return archive({"the data.csv": content})
    packed = pa.BufferOutputStream()
    with pa.CompressedOutputStream(packed, kind) as file:
        file.write(content)
    return packed.getvalue().to_pybytes()


def lines(separator: str, header: bool = True, end: str = "\n") -> bytes:
    found = [separator.join(("user", "item", "rating", "when"))] if header else []
    for row in zip(USERS, ITEMS, STARS, strict=True):
        found.append(separator.join(map(str, (*row, 978300760))))
    return (end.join(found) + end).encode()


def written(write: Callable[[io.BytesIO], object]) -> bytes:
    file = io.BytesIO()
    write(file)
    return file.getvalue()


def ipc(new: Callable, table: pa.Table, **options: object) -> bytes:
    def write(file: io.BytesIO) -> None:
        with new(file, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as out:
            out.write_table(table, max_chunksize=20)

    return written(write)


def texts() -> list[bytes]:
    quoted = b'user,item,rating\n"a ""b""","x,\ny",1\n\xd0\xb6\xd1\x83\xd0\xba,"",2\nn,m,1e308\n'
    return [
        *(lines(sign) for sign in (",", "\t", ";", "|", " ", "::")),
        lines("::", header=False),
        lines("\t", header=False, end="\r\n"),
        lines(",", end="\r"),
        b"\xef\xbb\xbf" + lines(","),
        quoted,
        'user::item::rating\né::"x::1\n'.encode("latin-1"),
        b"when,viewer,show,mark\n2020-01-01,=1+1,@x,-inf\n2020-01-02,true,+3,nan\n",
        b"user,user,item,rating\n1,2,3,4e-320\n",
    ]


def titles() -> list[bytes]:
    text = "1::Toy Story (1995)::Animation|Children's\n2::Misérables, Les (1995)::Drama\n"
    return [
        text.encode("latin-1"),
        b'movieId,title\n1,"A, B"\n2,=1+1\n',
        b'{"item": 1, "title": "A"}\n{"item": "2", "title": null}\n',
    ]


def columnar() -> list[bytes]:
    odd = pa.table(
        {
            "user": pa.array(["a", "b", "a"]).dictionary_encode(),
            "item": pa.array([1, None, 3], pa.int16()),
            "rating": pa.array([1, 2, 3], pa.decimal128(5, 1)),
            "more": pa.array([[1], [], None], pa.list_(pa.int8())),
        }
    )
    found = [ipc(new, t) for new in (pa.ipc.new_file, pa.ipc.new_stream) for t in (TABLE, odd)]
    found += [ipc(pa.ipc.new_file, TABLE, compression=kind) for kind in ("lz4", "zstd")]
    for table in (TABLE, odd):
        for kind in ("none", "snappy", "gzip", "zstd"):
            found.append(
                written(lambda f, t=table, k=kind: pa.parquet.write_table(t, f, compression=k))
            )
    return found


def json_lines() -> list[bytes]:
    nested = [json.dumps(row | {"more": {"deep": [1, None]}}) for row in TABLE.to_pylist()[:6]]
    odd = b'{"user": "\\u00e9\\"[{", "item": 1, "rating": 1e308}\n{"item": 2.5, "rating": -1}\n'
    lines = "\n".join(nested).encode() + b"\n"
    array = json.dumps(TABLE.to_pylist()[:6], indent=1).encode()
    return [lines, odd, b'{"user": 1, "item": 2,\n"rating": 3}', array]


def matrices() -> list[bytes]:
    cells = sp.coo_array(([1.5, 2.0, 4.0], ([0, 2, 1], [1, 0, 1])), shape=(3, 3))
    both = (cells + cells.T).tocoo()
    found = [written(lambda f, x=x: scipy.io.mmwrite(f, x)) for x in (cells, both, cells.toarray())]
    found.append(written(lambda f: scipy.io.mmwrite(f, cells, field="pattern")))
    found.append(written(lambda f: scipy.io.mmwrite(f, cells.astype(complex))))
    return found


def arrays() -> list[bytes]:
    kinds = (
        np.arange(12.0).reshape(3, 4),
        np.ones((2, 3, 2), ">i2"),
        np.eye(3, dtype="f4", order="F"),
    )
    return [written(lambda f, x=x: np.save(f, x)) for x in (*kinds, np.ones((2, 2), "?"))]


def archives() -> list[bytes]:
    x = np.arange(12.0).reshape(3, 4)
    return [
        written(lambda f: np.savez(f, x=x)),
        written(lambda f: np.savez_compressed(f, x=x)),
        written(lambda f: np.savez(f, x=x, y=x)),
        written(lambda f: sp.save_npz(f, sp.csr_array(x))),
        written(lambda f: sp.save_npz(f, sp.dia_array(np.eye(3)), compressed=False)),
    ]


def archive(files: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A zip archive of these files."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as out:
        for name, content in files.items():
            out.writestr(name, content)
    return file.getvalue()


def zipped(content: bytes) -> bytes:
    """An npz with this member."""
    return archive({"x.npy": content}, zipfile.ZIP_STORED)


def tables() -> list[bytes]:
    text = "a,b,name\n1,,x\n2.5,NA,y\n?,3,z\n"
    signs = [text.replace(",", sign).encode() for sign in ",;|\t"]
    return [*signs, b"1,2\n3,\n", b"a,b\n1,2\n-inf,1e308\n"]


def pictures() -> list[bytes]:
    picture = RNG.integers(0, 255, (16, 24), np.uint8)
    return [written(lambda f: write_image(f, picture))]


def films() -> list[bytes]:
    frames = RNG.integers(0, 255, (3, 16, 24), np.uint8)
    return [written(lambda f: write_video(f, frames, 5.0))]


def attribute_table() -> pa.Table:
    return pa.table(
        {
            "user_id": np.arange(30),
            "sex": ["F", "M", None] * 10,
            "tags": ["a|b", "c"] * 15,
            "when": np.arange(30).astype("M8[s]"),
            "x": STARS,
        }
    )


def attribute_files() -> list[bytes]:
    table = attribute_table()
    text = written(lambda file: pa.csv.write_csv(table, file))
    without = pa.csv.WriteOptions(include_header=False, delimiter=";")
    return [
        text,
        text.replace(b",", b"::").replace(b'"', b""),
        written(lambda file: pa.csv.write_csv(table, file, without)),
        written(lambda file: pa.parquet.write_table(table, file)),
        titles()[0],
    ]


def encoders() -> list[bytes]:
    X = RNG.standard_normal((6, 5))
    found = []
    with scratch() as path:
        for rows in (attribute_table(), X, sp.csr_array(np.where(X > 0, X, 0))):
            Attributes().fit(rows).save(path)
            found.append(path.read_bytes())
    return found


def models() -> list[bytes]:
    cells = (USERS - 1, ITEMS - 1, STARS, (8, 8))
    fitted = [
        MatrixCompletion(2, random_state=0, duplicates="mean").fit(cells),
        MatrixCompletion(2, random_state=0, duplicates="mean", posterior=2).fit(TABLE),
        MatrixCompletion(2, penalty=Trace(0.01), random_state=0, duplicates="mean").fit(PLAIN),
        RobustPCA(1, random_state=0).fit(RNG.standard_normal((6, 5))),
    ]
    found = []
    with scratch() as path:
        for model in fitted:
            model.save(path)
            found.append(path.read_bytes())
    return found


def checkpoints() -> list[bytes]:
    cells = (USERS - 1, ITEMS - 1, STARS, (8, 8))
    found = []
    with scratch() as path:
        for settings in ({"random_state": 0}, {"penalty": Trace(0.01), "random_state": 0}):
            path.unlink(missing_ok=True)
            model = MatrixCompletion(2, duplicates="mean", **settings)
            model.fit(cells, checkpoint=path)
            found.append(path.read_bytes())
    return found


@contextmanager
def scratch():
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder) / "file"


@contextmanager
def little_memory(room: int):
    """An allocation of more than `room` beyond what the process has now is an error."""
    about = Path("/proc/self/statm")  # Linux'; elsewhere there is no limit
    if not about.exists():
        yield
        return
    used = int(about.read_text().split()[0]) * resource.getpagesize()
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (used + room, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def forged(content: bytes) -> bytes:
    """A container whose checksums are right again, so that what lies behind them is reached."""
    size = container.PREFIX.size
    if len(content) < size:
        return content
    length = struct.unpack("<Q", content[16:24])[0]
    header = content[size : size + length]
    try:
        told = json.loads(header)
        start = -(-(size + len(header)) // 64) * 64
        for entry in told["arrays"]:
            count = int(np.prod(entry["shape"])) * np.dtype(entry["dtype"]).itemsize
            at = start + entry["at"]
            entry["crc"] = zlib.crc32(content[at : at + count])
        again = json.dumps(told).encode()
        if len(again) == len(header):
            header = again
    except Exception:  # whatever the header has become, it is tried as it is
        pass
    sizes = content[16:24] + struct.pack("<Q", len(content))
    checked = struct.pack("<II", 1, zlib.crc32(sizes + header))
    return container.MAGIC + checked + sizes + header + content[size + length :]


def read_model(path: Path) -> None:
    """Load it both ways, and ask it something."""
    describe(path)
    pygeco.load(path)
    pygeco.load(path, mmap=True)


def read_checkpoint(path: Path) -> None:
    from pygeco.io.model_file import load_record

    found = load_record(path)
    key = found.get("key", "") if isinstance(found, dict) else ""
    store = Checkpoint(path, key)
    for name in ("validation", "path"):
        take_kept_steps(store, name)


def read_parts(path: Path) -> None:
    """As the workers of a cluster read it."""
    given = dict.fromkeys(("user", "item", "rating"))
    for rows in plan_parts([str(path)], [read_footer(str(path))], given):
        read_rows(rows, None, held=False)


def read_movielens(path: Path) -> None:
    os.environ["PYGECO_DATA"] = str(path.parent)
    folder = path.parent / "ml-1m"
    folder.mkdir(exist_ok=True)
    shutil.copy(path, folder / "ratings.dat")
    load_movielens("ml-1m", download=False)


def read_and_fit(path: Path) -> None:
    """What can be read can be fitted, or is refused in a sentence."""
    table = read_ratings(path).table
    if table.num_rows > 2000:
        return
    try:
        model = MatrixCompletion(1, random_state=0, duplicates="last").fit(table)
    except ValueError as error:
        raise ReadError(str(error)) from error
    assert np.isfinite(model.factors_.s).all(), "a model that is not finite"


def read_and_encode(path: Path) -> None:
    """What can be read can be encoded, or is refused in a sentence."""
    table = read_attributes(path)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AttributeWarning)
            found = Attributes().fit_transform(table)
    except ValueError as error:
        raise ReadError(str(error)) from error
    assert np.isfinite(found.data).all(), "a matrix that is not finite"


def read_encoder(path: Path) -> None:
    """Load it, and name its columns."""
    encoder = pygeco.load(path)
    assert len(encoder.get_feature_names_out()) == sum(group.size for group in encoder.groups_)
    pygeco.load(path, mmap=True)


PACKERS = (
    *(gzip.compress, bz2.compress, lzma.compress),
    lambda data: pa.compress(data, "zstd", asbytes=True),
    lambda data: archive({"data": data}),
)
TARGETS = {
    "text": Target(read_ratings, "", texts),
    "text, packed": Target(read_ratings, "", lambda: texts() + matrices(), PACKERS),
    "packed": Target(read_ratings, "", lambda: [p(d) for d in texts()[:3] for p in PACKERS]),
    "columns": Target(read_ratings, "", columnar),
    "JSON lines": Target(read_ratings, "", json_lines),
    "Matrix Market": Target(read_ratings, "", matrices),
    "fit": Target(read_and_fit, "", lambda: texts()[:8]),
    "mtx": Target(read_array, ".mtx", matrices),
    "npy": Target(read_array, ".npy", arrays),
    "npz": Target(read_array, ".npz", archives),
    "npy in npz": Target(read_array, ".npz", arrays, (zipped,)),
    "table": Target(read_table, ".csv", tables),
    "Parquet table": Target(
        read_table, ".parquet", lambda: [one for one in columnar() if one.startswith(b"PAR1")]
    ),
    "Parquet in parts": Target(
        read_parts, "", lambda: [one for one in columnar() if one.startswith(b"PAR1")]
    ),
    "titles": Target(lambda path: read_titles(path, np.array([1, 2])), "", titles),
    "MovieLens": Target(read_movielens, "", lambda: [lines(sign, False) for sign in ("::", "\t")]),
    "picture": Target(lambda path: read_film(path.parent), ".png", pictures),
    "video": Target(read_film, ".mp4", films),
    "model": Target(read_model, "", models),
    "forged model": Target(read_model, "", models, (forged,)),
    "attributes": Target(read_and_encode, "", attribute_files),
    "encoder": Target(read_encoder, "", encoders, (bytes, forged)),
    "checkpoint": Target(read_checkpoint, "", checkpoints, (bytes, forged)),
}
