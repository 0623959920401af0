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

# What a program finds: `outcomes` prints how some work ends at limits above what is in use, in
# processes of their own: 0 where it is done, 1 at a MemoryError.
LIMITS = """
import os, resource

def outcome(work, limit, shown):
    child = os.fork()
    if child == 0:
        code = 9
        try:
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
            try:
                work()
                code = 0
            except MemoryError as error:
                code = 1
                if shown:
                    print(error, flush=True)
        except BaseException as error:
            print(type(error), error, flush=True)
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

def outcomes(work, megabytes, shown=False):
    pages = int(open("/proc/self/statm").read().split()[0])
    first = pages * resource.getpagesize()
    found = [outcome(work, first + mega * 10**6, shown) for mega in megabytes]
    print(*found, flush=True)
"""


def outcomes_of(program: str, folder: Path) -> list[int]:
    """The outcomes that a program prints last."""
    out = output_of(program, folder)
    found = [int(word) for word in out.splitlines()[-1].split()]
    assert set(found) <= {0, 1}, out[-2000:]
    return found


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
    exec(compile(LIMITS + program, "program", "exec"), {"__name__": "__main__"})
