"""GroupLens' archives: found through PYGECO_DATA, in a cache, or fetched with a checksum."""

from __future__ import annotations

import hashlib
import os
import tempfile
import urllib.error
import urllib.request
import zipfile
from pathlib import Path
from typing import NamedTuple

DOWNLOAD_SECONDS = 30  # without an answer, after which a download is given up


class Archive(NamedTuple):
    """A zip file, its checksum as GroupLens publishes it, and the folder inside."""

    url: str
    md5: str
    folder: str


ARCHIVES = {
    "ml-100k": Archive(
        "https://files.grouplens.org/datasets/movielens/ml-100k.zip",
        "0e33842e24a9c977be4e0107933c0723",
        "ml-100k",
    ),
    "ml-1m": Archive(
        "https://files.grouplens.org/datasets/movielens/ml-1m.zip",
        "c4d9eecfca2ab87c1945afe126590906",
        "ml-1m",
    ),
    "ml-10m": Archive(
        "https://files.grouplens.org/datasets/movielens/ml-10m.zip",
        "ce571fd55effeba0271552578f2648bd",
        "ml-10M100K",
    ),
}


def cache_folder() -> Path:
    """Where downloads are kept: pygeco/ in XDG_CACHE_HOME, or in ~/.cache."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pygeco"


def find_folder(name: str) -> Path | None:
    """The folder of a rating set in PYGECO_DATA, else in the cache; None where it is in neither."""
    given = os.environ.get("PYGECO_DATA")
    places = [*([Path(given)] if given else []), cache_folder()]
    folders = (place / ARCHIVES[name].folder for place in places)
    return next((folder for folder in folders if folder.is_dir()), None)


def get_folder(name: str, *, download: bool = True) -> Path:
    """The folder of a rating set: in PYGECO_DATA, else in the cache, else fetched into it."""
    found = find_folder(name)
    if found is not None:
        return found
    if not download:
        raise FileNotFoundError(_advice(name, "is not on this machine"))
    try:
        return fetch(ARCHIVES[name], cache_folder())
    except (urllib.error.URLError, TimeoutError, ConnectionError) as error:
        reason = getattr(error, "reason", error)
        raise FileNotFoundError(_advice(name, f"could not be downloaded ({reason})")) from error


def fetch(archive: Archive, cache: Path) -> Path:
    """Download, check, unpack; the folder appears in the cache only when it is complete."""
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as work:
        packed = Path(work) / "archive.zip"
        found = _download(archive.url, packed)
        if found != archive.md5:
            raise OSError(
                f"{archive.url} has the checksum {found}, not {archive.md5}: the download is "
                "damaged or the archive has changed; try again, or put the files in PYGECO_DATA."
            )
        with zipfile.ZipFile(packed) as content:
            content.extractall(work)
        target = cache / archive.folder
        if not target.is_dir():  # another process may have been faster
            (Path(work) / archive.folder).replace(target)
    return target


def _download(url: str, to: Path) -> str:
    """The file at `url`, written to `to`; its MD5, taken on the way."""
    seen = hashlib.md5(usedforsecurity=False)
    with urllib.request.urlopen(url, timeout=DOWNLOAD_SECONDS) as answer, to.open("wb") as file:
        while part := answer.read(1 << 20):
            seen.update(part)
            file.write(part)
    return seen.hexdigest()


def _advice(name: str, what: str) -> str:
    archive = ARCHIVES[name]
    return (
        f"{name} {what}; unpack {archive.url} into the folder that the environment variable "
        f"PYGECO_DATA names, so that it holds {archive.folder}/, or into {cache_folder()}."
    )
