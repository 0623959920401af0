"""Programs in processes that fork from one that has imported the package: none starts anew."""

import multiprocessing
import os
from multiprocessing import forkserver
from pathlib import Path
from unittest import mock

# Freed arrays go back to the system, so that a process has no memory but what it uses.
ENVIRONMENT = {
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MALLOC_MMAP_THRESHOLD_": "131072",
    "MALLOC_ARENA_MAX": "1",
}


def output_of(program: str, folder: Path) -> str:
    """What a program prints, which must end without an error."""
    context, file = multiprocessing.get_context("forkserver"), folder / "printed"
    context.set_forkserver_preload(["multimargin.estimators"])
    with mock.patch.dict(os.environ, ENVIRONMENT):
        forkserver.ensure_running()
    process = context.Process(target=_execute, args=(program, str(file)))
    process.start()
    process.join(300)
    assert process.exitcode == 0, file.read_text()
    return file.read_text()


def _execute(program: str, file: str) -> None:
    printed = os.open(file, os.O_WRONLY | os.O_CREAT)
    os.dup2(printed, 1)
    os.dup2(printed, 2)
    exec(compile(program, "program", "exec"), {"__name__": "__main__"})
