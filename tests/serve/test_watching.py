"""A file that is replaced: sound copies are given, others are logged once."""

import logging

from pygeco.serve.metrics import make_counters
from pygeco.serve.watching import ModelFile, mark_file, read_current, write_current


def test_only_sound_files_are_taken(model_folder, models, tmp_path, caplog) -> None:
    caplog.set_level(logging.ERROR)
    whole = (model_folder / "ratings.geco").read_bytes()
    other = (model_folder / "clicks.geco").read_bytes()
    path, folder = tmp_path / "m.geco", tmp_path / "copies"
    folder.mkdir()
    path.write_bytes(whole)
    counters = make_counters()
    file = ModelFile(path, folder, counters)
    first = file.copy()
    assert first.read_bytes() == whole
    assert file.look() is None
    for spoiled in (whole[:1000], whole[:-1], whole[:5000] + b"x" + whole[5001:], b""):
        path.write_bytes(spoiled)
        assert file.look() is None
        assert file.look() is None
    assert len(caplog.records) == 4  # once for each file
    assert "geco_model_failures_total 4\n" in counters.write("v", 0)
    assert all("the model stays as it is" in one.message for one in caplog.records)
    assert str(path) in caplog.text
    assert "copies" not in caplog.text
    path.unlink()
    assert file.look() is None
    path.write_bytes(other)
    second = file.look()
    assert second.read_bytes() == other
    write_current(folder, second)
    assert read_current(folder) == second
    for _ in range(3):
        path.unlink()
        path.write_bytes(whole)
        second = file.look() or second
    assert len(list(folder.glob("model-*.geco"))) <= 2
    assert mark_file(tmp_path / "nothing") is None
