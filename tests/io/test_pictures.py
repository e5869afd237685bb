"""Images and films are written and read as the same matrix of pixels."""

import numpy as np
import pytest

from pygeco.errors import ReadError
from pygeco.io.pictures import read_film, write_image, write_video


def picture(shift: int = 0, size=(16, 24)) -> np.ndarray:
    rows, cols = np.indices(size)
    return ((rows * 7 + cols * 3 + shift) % 200 + 20).astype(np.uint8)


def test_a_folder_of_images_is_read_by_name(tmp_path) -> None:
    for name, shift in (("b.png", 5), ("a.png", 0)):
        with (tmp_path / name).open("wb") as file:
            write_image(file, picture(shift))
    (tmp_path / "note.txt").write_text("no image")
    film = read_film(tmp_path)
    assert film.names == ["a.png", "b.png"]
    assert film.shape == (16, 24)
    np.testing.assert_array_equal(film.pixels[0].reshape(16, 24), picture())
    np.testing.assert_array_equal(film.pixels[1].reshape(16, 24), picture(5))


def test_a_film_keeps_its_frames_nearly(tmp_path) -> None:
    path = tmp_path / "film.mp4"
    frames = [np.full((16, 24), 40 + 20 * t, np.uint8) for t in range(4)]
    with path.open("wb") as file:
        write_video(file, frames, 10.0)
    told: list[float] = []
    film = read_film(path, told.append)
    assert film.pixels.shape == (4, 16 * 24)
    assert film.rate == pytest.approx(10)
    np.testing.assert_allclose(film.pixels.mean(axis=1), [40, 60, 80, 100], atol=4)
    assert told[-1] == 1


def test_what_is_no_picture_is_told(tmp_path) -> None:
    with pytest.raises(ReadError, match="holds no images"):
        read_film(tmp_path)
    (tmp_path / "film.mp4").write_bytes(b"nothing of the kind")
    with pytest.raises(ReadError, match=r"film\.mp4 cannot be decoded"):
        read_film(tmp_path / "film.mp4")
    for name, size in (("a.png", (16, 24)), ("b.png", (16, 20))):
        with (tmp_path / name).open("wb") as file:
            write_image(file, picture(size=size))
    with pytest.raises(ReadError, match=r"b\.png has 20 × 16 pixels, a\.png 24 × 16"):
        read_film(tmp_path)
