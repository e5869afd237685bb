"""Each module has a test file of its name in the folder of its room, or a reason to have none."""

import ast
from fnmatch import fnmatch
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
PACKAGE = TESTS.parent / "src" / "pygeco"

# Modules that are tested elsewhere, and where.
EXEMPT = {
    "algorithm/run_values.py": "test_run.py, whose run is made of these values",
    "engines/values.py": "test_engines.py, whose passes take and give these values",
    "engines/cpu/*": "test_engines.py compares each pass with dense NumPy, whatever file it is in",
    "engines/cuda/*": "test_engines.py, on the GPU or compiled for the CPU by cuda_on_cpu.py",
    "engines/dask/*": "engines/dask/test_engine.py, each pass on a cluster",
    "io/parquet_parts.py": "io/test_streamed.py and io/partitioned/test_reading.py read by it",
    "io/partitioned/*": "io/partitioned/test_reading.py, from a folder to a matrix on a cluster",
    "bayes/*": "test_evidence.py and test_sampling.py fit by all of them",
    "models/c*": "models/test_base.py asks every question of both kinds of model",
    "models/slab_arrays.py": "io/partitioned/test_model.py, a model whose rows are on a cluster",
    "models/new_lines.py": "estimators/test_updating.py folds rows and columns by it",
    "models/updating.py": "estimators/test_updating.py takes in cells by it",
    "estimators/_attribute_*": "estimators/test_attributes.py encodes by all of them",
    "io/attribute_*": "io/test_attributes.py and estimators/test_attribute_tables.py read by them",
    "estimators/_completion_[as]*": "test_completion.py, test_predicting.py and test_ids.py",
    "estimators/_completion_folding.py": "test_updating.py and test_completion.py fold by it",
    "estimators/*click_*": "test_implicit.py gives clicks in every form and looks at the choice",
    "clicks/lines.py": "clicks/test_model.py places and explains rows by it",
    "clicks/cluster.py": "engines/dask/test_engine.py fits, asks and fetches such a model",
    "io/*_contents.py": "io/test_model_checks.py spoils each part of a file",
    "estimators/_fitted_cells.py": "test_tables.py and test_completion.py fit what it makes",
    "estimators/_low_rank_filling.py": "test_imputer.py gives rank and ridge, or one of them",
    "estimators/_values.py": "test_recognize.py takes pairs with values by it",
    "serve/worker.py": "serve/test_running.py runs two of them and kills one",
    "cli/reproduce.py": "experiments/test_figure1.py runs the command as a whole",
}


def has_code(path: Path) -> bool:
    """Whether any function of the module does more than say its name or refuse."""
    functions = [
        node
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef)
    ]
    bodies = [node.body[1:] if ast.get_docstring(node) else node.body for node in functions]
    empty = (ast.Expr, ast.Pass, ast.Raise)
    return any(not isinstance(line, empty) for body in bodies for line in body)


def find_test(module: Path) -> Path:
    return TESTS / module.parent / f"test_{module.stem.lstrip('_')}.py"


FILES = [path for path in sorted(PACKAGE.rglob("*.py")) if path.name != "__init__.py"]


@pytest.fixture(scope="module")
def lonely() -> list[Path]:
    """Modules with code and without a test file of their name."""
    modules = [path.relative_to(PACKAGE) for path in FILES]
    return [x for x in modules if not find_test(x).is_file() and has_code(PACKAGE / x)]


@pytest.mark.parametrize("room", sorted({path.relative_to(PACKAGE).parts[0] for path in FILES}))
def test_each_module_has_a_test_file_of_its_name(room, lonely) -> None:
    lacking = [module.as_posix() for module in lonely if module.parts[0] == room]
    left = [name for name in lacking if not any(fnmatch(name, pattern) for pattern in EXEMPT)]
    assert left == []


@pytest.mark.parametrize("pattern", EXEMPT)
def test_an_exemption_is_needed(pattern, lonely) -> None:
    assert any(fnmatch(module.as_posix(), pattern) for module in lonely)


def test_every_test_stands_in_a_room_of_the_package() -> None:
    rooms = {path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*") if path.is_dir()}
    folders = {path.parent.relative_to(TESTS).as_posix() for path in TESTS.rglob("test_*.py")}
    assert folders - rooms <= {".", "trust"}
