"""Downloads, from a real server on this machine with an archive made here."""

import hashlib
import http.server
import io
import threading
import zipfile
from functools import cache

import pytest

from pygeco.data import archives, load_movielens
from pygeco.data.archives import ARCHIVES

RATINGS = "1::40::3::9\n5::2::4::9\n"


@cache  # a zip carries the time of its making
def packed() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        file.writestr("ml-1m/ratings.dat", RATINGS)
        file.writestr("ml-1m/README", "for research")
    return out.getvalue()


@pytest.fixture
def server():
    """Serves `content` at any path, and counts the requests."""

    class Handler(http.server.BaseHTTPRequestHandler):
        content = packed()
        status = 200
        asked = 0

        def do_GET(self):
            type(self).asked += 1
            self.send_response(self.status)
            self.send_header("Content-Length", str(len(self.content)))
            self.end_headers()
            self.wfile.write(self.content)

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        Handler.url = f"http://127.0.0.1:{running.server_port}/ml-1m.zip"
        yield Handler
        running.shutdown()
        thread.join()


@pytest.fixture
def cache(tmp_path, monkeypatch, server):
    """An empty cache, no PYGECO_DATA, and ml-1m.zip at the local server."""
    monkeypatch.delenv("PYGECO_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    md5 = hashlib.md5(packed()).hexdigest()
    local = ARCHIVES["ml-1m"]._replace(url=server.url, md5=md5)
    monkeypatch.setitem(ARCHIVES, "ml-1m", local)
    return tmp_path / "pygeco"


def test_downloads_once_and_keeps_it(cache, server):
    assert list(load_movielens("ml-1m").values) == [3, 4]
    assert (cache / "ml-1m" / "ratings.dat").read_text() == RATINGS
    assert [entry.name for entry in cache.iterdir()] == ["ml-1m"]  # no archive, no part of one
    assert list(load_movielens("ml-1m").values) == [3, 4]
    assert server.asked == 1


def test_pygeco_data_comes_first_then_the_cache(cache, server, tmp_path, monkeypatch):
    (cache / "ml-1m").mkdir(parents=True)
    (cache / "ml-1m" / "ratings.dat").write_text("1::1::2::9\n")
    assert list(load_movielens("ml-1m").values) == [2]
    (tmp_path / "mine" / "ml-1m").mkdir(parents=True)
    (tmp_path / "mine" / "ml-1m" / "ratings.dat").write_text("1::1::5::9\n")
    monkeypatch.setenv("PYGECO_DATA", str(tmp_path / "mine"))
    assert list(load_movielens("ml-1m").values) == [5]
    assert server.asked == 0


def test_a_damaged_archive_is_not_kept(cache, server):
    server.content = packed()[:-1] + b"x"
    with pytest.raises(
        OSError, match=r"has the checksum [0-9a-f]{32}, not .*the download is damaged"
    ):
        load_movielens("ml-1m")
    assert list(cache.iterdir()) == []
    server.content = packed()
    assert len(load_movielens("ml-1m").values) == 2


def test_offline_a_sentence_says_where_to_put_the_file(cache, server, monkeypatch):
    server.status = 404
    said = r"^ml-1m could not be downloaded \(.+\); unpack http.*PYGECO_DATA.*holds ml-1m/, or into"
    with pytest.raises(FileNotFoundError, match=said):
        load_movielens("ml-1m")
    nobody = ARCHIVES["ml-1m"]._replace(url="http://127.0.0.1:1/ml-1m.zip")
    monkeypatch.setitem(ARCHIVES, "ml-1m", nobody)
    with pytest.raises(FileNotFoundError, match=said):
        load_movielens("ml-1m")
    with pytest.raises(FileNotFoundError, match=r"^ml-1m is not on this machine; unpack"):
        load_movielens("ml-1m", download=False)


def test_the_cache_is_where_the_system_keeps_caches(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert archives.cache_folder() == tmp_path / "pygeco"
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert archives.cache_folder() == tmp_path / ".cache" / "pygeco"
