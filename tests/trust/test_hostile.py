"""Files made to do harm: headers that lie, bombs, paths that lead out, lists of other files."""

import bz2
import gzip
import hashlib
import io
import json
import lzma
import struct
import tracemalloc
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet
import pytest
import scipy.sparse as sp

from cli_cases import run
from file_formats import archive, films, little_memory, zipped
from pygeco import MatrixCompletion, ModelFileError
from pygeco.arrays import container
from pygeco.data import archives, read_ratings
from pygeco.errors import ReadError
from pygeco.io import json_lines, sources
from pygeco.io import model_file as modelfile
from pygeco.io.matrices import read_array, read_table
from pygeco.io.pictures import read_film

TRILLION = 10**12


@pytest.fixture(autouse=True)
def _little_memory():
    with little_memory(2 << 30):
        yield


def refused(read, path: Path, content: bytes, match: str, error=ReadError) -> None:
    path.write_bytes(content)
    tracemalloc.start()
    try:
        with pytest.raises(error, match=match) as caught:
            read(path)
        assert tracemalloc.get_traced_memory()[1] < 64 << 20
    finally:
        tracemalloc.stop()
    assert "\n" not in str(caught.value)


def npy(shape, dtype="<f8", content=b"12345678") -> bytes:
    told = repr({"descr": dtype, "fortran_order": False, "shape": shape}).encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(told)) + told + content


@pytest.mark.parametrize("shape", [(TRILLION, 1), (2**62, 4), (-1, 1), (TRILLION, 0, 3)])
def test_arrays_of_a_trillion_rows(shape, tmp_path) -> None:
    for content in (npy(shape), zipped(npy(shape))):
        ending = ".npy" if content[:1] == b"\x93" else ".npz"
        refused(read_array, tmp_path / f"x{ending}", content, "claims an array|holds an array")


def test_nothing_is_unpickled(tmp_path) -> None:
    trap = b"cos\nsystem\n(S'touch trapped'\ntR."
    for content in (npy((1, 1), "|O", trap), trap):
        refused(read_array, tmp_path / "x.npy", content, "cannot be read")
    refused(read_array, tmp_path / "x.npz", zipped(npy((1, 1), "|O", trap)), "cannot be read")
    assert not Path("trapped").exists()


@pytest.mark.parametrize(
    ("text", "match"),
    [
        (f"matrix coordinate real general\n{TRILLION} {TRILLION} {TRILLION}\n1 1 1\n", "entries"),
        (f"matrix array real general\n{TRILLION} 1\n1\n", "says that it has 1,000,000,000,000"),
        ("matrix array real general\n2 2\n1\n2\n3\n4\n5\n6\n", "it has 4 entries, but 6"),
        ("matrix array real symmetric\n2 2\n1\n2\n3\n4\n", "it has 3 entries, but 4"),
        ("matrix coordinate real general\n2 2 1\n3 1 1\n", "outside of 2 × 2"),
        ("matrix coordinate real general\n2 2 1\n0 1 1\n", "outside of 2 × 2"),
        ("matrix coordinate real general\n2 2 1\n1.5 1 1\n", "outside of 2 × 2"),
        ("matrix coordinate real symmetric\n2 3 1\n1 1 1\n", "not square"),
        ("matrix coordinate complex general\n2 2 1\n1 1 1 1\n", "not supported"),
        ("matrix coordinate real general\n2 2 1\n1 1 one\n", "cannot be read"),
        ("vector coordinate real general\n2 2 1\n", "first line"),
    ],
)
def test_matrix_market_files_that_lie(text, match, tmp_path) -> None:
    content = f"%%MatrixMarket {text}".encode()
    refused(read_ratings, tmp_path / "x", content, match)
    refused(read_array, tmp_path / "x.mtx", content, match)


def test_one_cell_of_a_trillion_rows(tmp_path) -> None:
    """As ratings it is one rating; as a dense matrix it is refused."""
    text = f"%%MatrixMarket matrix coordinate real general\n{TRILLION} 9 1\n{TRILLION} 9 2\n"
    (tmp_path / "x").write_text(text)
    assert read_ratings(tmp_path / "x").table.to_pylist() == [
        {"user": TRILLION, "item": 9, "rating": 2.0}
    ]
    refused(read_array, tmp_path / "x.mtx", text.encode(), "would take")
    wide = sp.coo_array(([1.0], ([0], [0])), shape=(10**6, 10**6))
    file = io.BytesIO()
    sp.save_npz(file, wide)
    refused(read_array, tmp_path / "x.npz", file.getvalue(), "would take")


def test_a_sparse_archive_whose_indices_lead_astray(tmp_path) -> None:
    good = sp.csr_array(np.eye(3))
    good.indices[1] = 10**6
    file = io.BytesIO()
    sp.save_npz(file, good)
    refused(read_array, tmp_path / "x.npz", file.getvalue(), "cannot be read")


def ipc(table: pa.Table) -> bytes:
    file = io.BytesIO()
    with pa.ipc.new_stream(file, table.schema) as out:
        out.write_table(table)
    return file.getvalue()


def test_an_arrow_file_whose_offsets_lead_astray(tmp_path) -> None:
    """pyarrow reads it without a word, and would follow the offset."""
    table = pa.table({"user": ["a", "b"], "item": [1, 2], "rating": [3.0, 4.0]})
    right = np.array([0, 1, 2], "<i4").tobytes()
    wrong = np.array([0, 1, 1 << 30], "<i4").tobytes()
    content = ipc(table)
    assert content.count(right) == 1
    refused(read_ratings, tmp_path / "x", content.replace(right, wrong), "cannot be read")


def test_columns_of_nothing_with_billions_of_rows(tmp_path) -> None:
    rows = 2_000_000_000
    column = pa.Array.from_buffers(pa.null(), rows, [None])
    content = ipc(pa.table({"user": column, "item": column, "rating": column}))
    assert len(content) < 2000
    refused(read_ratings, tmp_path / "x", content, "would take")


def test_a_parquet_bomb(tmp_path, monkeypatch) -> None:
    """A column of one value is kept in a few bytes."""
    column = pa.array(np.zeros(3_000_000))
    file = io.BytesIO()
    pa.parquet.write_table(pa.table({"user": column, "item": column, "rating": column}), file)
    assert len(file.getvalue()) < 1 << 16
    monkeypatch.setattr(sources, "MIN_ROOM_BYTES", 1 << 26)
    refused(read_ratings, tmp_path / "x", file.getvalue(), "would take 72,000,000 in memory")
    refused(read_table, tmp_path / "x.parquet", file.getvalue(), "would take 72,000,000")


@pytest.mark.parametrize(
    "pack",
    [
        gzip.compress,
        bz2.compress,
        lzma.compress,
        lambda data: pa.compress(data, "zstd", asbytes=True),
        lambda data: archive({"x": data}),
    ],
)
@pytest.mark.parametrize("kind", ["text", "JSON"])
def test_text_bombs(pack, kind, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(sources, "MIN_ROOM_BYTES", 1 << 21)
    line = b"1,2,3\n" if kind == "text" else b'{"user": 1, "item": 2, "rating": 3}\n'
    first = b"user,item,rating\n" if kind == "text" else b""
    content = pack(first + line * 150_000)
    refused(read_ratings, tmp_path / "x", content, "would take .* in memory")


def test_a_zip_bomb_as_npz(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(sources, "MIN_ROOM_BYTES", 1 << 22)
    file = io.BytesIO()
    np.savez_compressed(file, x=np.zeros((10**4, 10**3)))
    refused(read_array, tmp_path / "x.npz", file.getvalue(), "would take")


@pytest.mark.parametrize(
    ("content", "match"),
    [
        (archive({}), "is a zip archive without a file"),
        (archive({"__MACOSX/._r.csv": b"x", "a/.DS_Store": b"x"}), "without a file"),
        (archive({"/etc/r.csv": b"1,2,3\n"}), "'/etc/r.csv' leads out of the archive"),
        (archive({"a/../../r.csv": b"1,2,3\n"}), "leads out of the archive"),
        (archive({r"C:\r.csv": b"1,2,3\n"}), "leads out of the archive"),
        (archive({"r.csv": archive({"r.csv": b"1,2,3\n"})}), "is a zip archive; unpack it"),
        (archive({"\x1b[2J": b"x", "b": b"y"}), r"holds 2 files \('\\x1b\[2J', 'b'\); give one"),
        (archive({"r.csv": b"1,2,3\n"})[:-9], "cannot be unpacked"),
    ],
)
def test_archives_that_mislead(content, match, tmp_path) -> None:
    refused(read_ratings, tmp_path / "x", content, match)


@pytest.mark.parametrize(
    ("at", "value", "match"),
    [(8, 1, "is encrypted"), (10, 9, "does not know"), (6, 99, "not know")],
)
def test_members_that_cannot_be_unpacked(at, value, match, tmp_path) -> None:
    """Flags, method and version, as the directory of an archive says them."""
    content = bytearray(archive({"r.csv": b"1,2,3\n"}))
    content[content.index(b"PK\x01\x02") + at] = value
    refused(read_ratings, tmp_path / "x", bytes(content), match)


def test_brackets_without_end(tmp_path) -> None:
    """pyarrow's parser would run out of stack, and the process with it."""
    for opening in (b"[", b'{"a":', b"[\n", b'{"a":\n[ "]}" ,'):
        content = b'{"user":1,"item":2,"rating":3,"x":' + opening * 30_000
        refused(read_ratings, tmp_path / "x", content, "nested more than 200 deep")
        late = b'{"user":1,"item":2,"rating":3}\n' * 4000 + content
        refused(read_ratings, tmp_path / "x", late, "nested more than 200 deep")


def test_brackets_in_text_are_no_depth() -> None:
    depth = json_lines.Depth()
    for k in range(3000):
        line = json.dumps({"text": '[[{{ \\ " :-{ [', "deep": [[{"a": []}]], "k": k}) + "\n"
        depth.see(line.encode()[:20])
        depth.see(line.encode()[20:])
    assert depth.open == b""


def test_archives_keep_inside_their_folder(tmp_path) -> None:
    """The checksum is GroupLens'; yet whatever is in an archive, it stays in the cache."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as out:
        out.writestr("ml-1m/ratings.dat", "1::2::3::4\n")
        for name in ("../../outside", "/outside", "ml-1m/../../../outside"):
            out.writestr(name, "x")
    packed = tmp_path / "a.zip"
    packed.write_bytes(file.getvalue())
    md5 = hashlib.md5(file.getvalue()).hexdigest()
    archive = archives.Archive(packed.as_uri(), md5, "ml-1m")
    cache = tmp_path / "deep" / "cache"
    archives.fetch(archive, cache)
    assert [path.name for path in cache.iterdir()] == ["ml-1m"]
    assert all(path.is_relative_to(cache) for path in tmp_path.rglob("outside"))
    assert not Path("/outside").exists()
    with pytest.raises(OSError, match="has the checksum"):
        archives.fetch(archive._replace(md5="0" * 32), tmp_path / "other")
    assert not list((tmp_path / "other").iterdir())


@pytest.mark.parametrize(
    "content",
    [
        b"ffconcat version 1.0\nfile secret.mp4\n",
        b"#EXTM3U\n#EXT-X-MEDIA-SEQUENCE:0\n#EXTINF:1.0,\nsecret.mp4\n#EXT-X-ENDLIST\n",
    ],
)
def test_a_film_that_is_a_list_of_other_files(content, tmp_path) -> None:
    (tmp_path / "secret.mp4").write_bytes(films()[0])
    assert len(read_film(tmp_path / "secret.mp4").pixels) == 3
    refused(read_film, tmp_path / "x.mp4", content, "cannot be decoded")


def test_a_picture_of_a_billion_pixels(tmp_path) -> None:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    head = struct.pack(">IIBBBBB", 16000, 16000, 16, 6, 0, 0, 0)
    parts = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(bytes(99))) + chunk(b"IEND", b"")
    path = tmp_path / "x.png"
    refused(lambda path: read_film(path.parent), path, b"\x89PNG\r\n\x1a\n" + parts, "decoded")


def test_a_model_with_texts_of_any_width(tmp_path) -> None:
    text = {"$": "text", "is": [{"$": "array", "is": 0}, {"$": "array", "is": 1}]}
    tree = {"record": text | {"shape": [2], "kind": "<U999999999"}}
    container.write(tmp_path / "x", tree, [np.array([1, 3]), np.frombuffer(b"abc", np.uint8)])
    assert modelfile.load_record(tmp_path / "x").tolist() == ["a", "bc"]


def test_a_model_that_claims_a_trillion_rows(tmp_path) -> None:
    path = tmp_path / "x"
    container.write(path, {"model": "MatrixCompletion"}, [np.zeros(3)])
    content = path.read_bytes()
    size = container.PREFIX.size
    length = struct.unpack("<Q", content[16:24])[0]
    header = content[size : size + length].replace(b"[3]", b"[1000000000000]")
    sizes = struct.pack("<QQ", len(header), 2**63)
    prefix = container.MAGIC + struct.pack("<II", 1, zlib.crc32(sizes + header)) + sizes
    refused(container.read, path, prefix + header, "is damaged", ModelFileError)


def rating_file(tmp_path, text: str, encoding: str = "utf-8"):
    (tmp_path / "r").write_bytes(text.encode(encoding))
    return read_ratings(tmp_path / "r").table


def test_mixed_line_ends(tmp_path) -> None:
    table = rating_file(tmp_path, "user,item,rating\r\n1,2,3\n4,5,6\r7,8,9\r\n")
    assert table.column("rating").to_pylist() == [3.0, 6.0, 9.0]


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252"])
def test_text_that_is_not_utf8(encoding, tmp_path) -> None:
    table = rating_file(tmp_path, "user,item,rating\né,ö,3\nß,ñ,4\n", encoding)
    assert table.column("user").to_pylist() == ["é", "ß"]


def test_columns_with_the_same_name(tmp_path) -> None:
    """The first one; in columnar files too, where names are not the places."""
    twice = [pa.array([1, 2]), pa.array([5, 6]), pa.array([3, 4]), pa.array([1.0, 2.0])]
    table = pa.Table.from_arrays(twice, names=["user", "user", "item", "rating"])
    file = io.BytesIO()
    pa.parquet.write_table(table, file)
    text = b"user,user,item,rating\n1,5,3,1\n2,6,4,2\n"
    for content in (ipc(table), file.getvalue(), text):
        (tmp_path / "r").write_bytes(content)
        assert read_ratings(tmp_path / "r").table.column("user").to_pylist() == [1, 2]


def test_missing_ids_of_text_are_left_out_and_counted(tmp_path) -> None:
    (tmp_path / "r").write_text(
        '{"user": "a", "item": "x", "rating": 1}\n{"user": null, "item": "y", "rating": 2}\n'
    )
    found = read_ratings(tmp_path / "r")
    assert found.table.num_rows == 1
    assert "1 rows with a missing value are left out" in found.found


@pytest.mark.parametrize("rating", ["1e308", "-1e308", "4e-320", "inf", "-inf", "1e999"])
def test_ratings_at_the_ends_of_the_numbers(rating, tmp_path) -> None:
    """Read as they are; a fit is finite, or says what is wrong."""
    lines = [f"{k % 5},{k % 7},{k % 3}.5" for k in range(20)]
    table = rating_file(tmp_path, "\n".join(["user,item,rating", f"0,1,{rating}", *lines]))
    assert table.column("rating")[0].as_py() == float(rating)
    model = MatrixCompletion(2, random_state=0, duplicates="last")
    if np.isinf(float(rating)):
        with pytest.raises(ValueError, match="infinity"):
            model.fit(table)
        return
    model.fit(table)
    assert np.isfinite(model.predict(table).column("prediction").to_numpy()).all()


def test_ids_that_look_like_formulas_come_out_as_they_went_in(tmp_path) -> None:
    """An id must be found again, so that it is not changed; docs/howto/files.md says so."""
    ids = ["=1+1", "@cmd", "+3", "-4", '=HYPERLINK("x")', "a,b"]
    rows = [f'"{u.replace(chr(34), chr(34) * 2)}",{k},{k % 5}' for k in range(4) for u in ids]
    (tmp_path / "r.csv").write_text("user,item,rating\n" + "\n".join(rows))
    run("fit", tmp_path / "r.csv", "-o", tmp_path / "m", "--rank", "1")
    told = ("recommend", tmp_path / "m", "--all", "--include-seen", "-k", 1)
    run(*told, "-o", tmp_path / "out.csv")
    found = read_ratings(tmp_path / "out.csv", user="user", item="item", rating="prediction")
    assert sorted(found.table.column("user").to_pylist()) == sorted(ids)
