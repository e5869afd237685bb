"""Files of kernels, each with what it needs."""

import subprocess

import pytest

from cuda_on_cpu import COMPILER, SHIM
from pygeco.engines.cuda.launch import KERNELS, list_kernels, source

# An instance of each template.
INSTANCES = {
    "matvec": "<float>", "matvec_ranges": "<float>", "matmat": "<float, float, 2>",
    "multiply_fours": "<8>",
    "add_pieces": "<double>", "predictions": "<float>", "unpack": "<double>",
    "grams": "<float, float, double, 2, 1, true, true, false>", "solve": "<float, true>",
    "arrange": "<float>", "single_grams": "<float, 3, true, true>",
    "sweep_pieces": "<float, 2, false>", "solve_parts": "<4>", "huber": "<float, short>",
    "medians": "<float, float>",
}  # fmt: skip


def test_every_kernel_is_found() -> None:
    found = list_kernels()
    assert len(found) == source().count("__global__")
    templates = {name for name, (_, plain) in found.items() if name not in plain}
    assert templates == set(INSTANCES)


@pytest.mark.skipif(COMPILER is None, reason="no C++ compiler for the kernels on the CPU")
@pytest.mark.parametrize("file", KERNELS)
def test_a_file_compiles_without_the_others(file, tmp_path) -> None:
    names = [name for name, (own, _) in list_kernels().items() if own == file]
    code = f'#include "{SHIM}"\n{source(file)}'
    for k, name in enumerate(names):
        code += f"void* p{k} = (void*)&call<&{name}{INSTANCES.get(name, '')}>;\n"
    path = tmp_path / "kernels.cpp"
    path.write_text(code)
    subprocess.run([COMPILER, "-std=c++17", "-w", "-fsyntax-only", str(path)], check=True)
