"""Jobs through joblib: results as they arrive, also from backends that cannot do so themselves."""

from collections.abc import Generator, Sequence
from dataclasses import replace
from typing import Any

from joblib import Parallel
from joblib.externals.loky import ProcessPoolExecutor
from joblib.externals.loky.process_executor import TerminatedWorkerError
from joblib.parallel import get_active_backend

from multimargin.compare.experiment.evaluate import Job, evaluate
from multimargin.compare.results import Result
from multimargin.datasets import MultilabelData
from multimargin.datasets.tables import Table
from multimargin.workers import delayed

Work = tuple[MultilabelData | Table, Job]


def evaluate_all(work: Sequence[Work], n_jobs: int | None) -> Generator[Result, None, None]:
    """Run jobs, `n_jobs` at a time as in joblib, and yield their results as they arrive.

    A job that kills its process, by lack of memory or a crash, has a result with an error, with
    joblib's default backend.
    """
    done: set[str] = set()
    try:
        for result in _through_joblib(work, n_jobs):
            done.add(result.job)
            yield result
    except TerminatedWorkerError:
        # The culprit is unknown: run one at a time, the next one to fail is.
        yield from _one_at_a_time([item for item in work if item[1].blank.job not in done])


def _through_joblib(work: Sequence[Work], n_jobs: int | None) -> Generator[Result, None, None]:
    backend, backend_jobs = get_active_backend()
    n_parallel = backend.effective_n_jobs(backend_jobs if n_jobs is None else n_jobs)
    # joblib would collect results of quick jobs and return them in batches.
    options: dict[str, Any] = {"n_jobs": n_jobs, "batch_size": 1}
    calls = [delayed(evaluate)(data.X, data.Y, job) for data, job in work]
    if n_parallel == 1 or backend.supports_return_generator:
        yield from Parallel(**options, return_as="generator_unordered")(calls)
        return
    # Other backends return nothing before all is done: a few jobs at a time, then.
    for start in range(0, len(calls), n_parallel):
        yield from Parallel(**options)(calls[start : start + n_parallel])


def _one_at_a_time(work: Sequence[Work]) -> Generator[Result, None, None]:
    executor = ProcessPoolExecutor(max_workers=1)
    try:
        for data, job in work:
            try:
                yield executor.submit(evaluate, data.X, data.Y, job).result()
            except TerminatedWorkerError as error:
                executor.shutdown(kill_workers=True)
                executor = ProcessPoolExecutor(max_workers=1)
                message = " ".join(str(error).split())
                text = {"type": type(error).__name__, "message": message, "traceback": message}
                yield replace(job.blank, error=text)
    finally:
        executor.shutdown(kill_workers=True)
