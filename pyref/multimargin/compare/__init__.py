"""Compare methods: experiments that survive a crash, statistics, tables and a report.

- `experiment`: methods on splits; `results`, `results_file`: the records of fits, and their file;
- `statistics`: ranks and tests; `measured`: the quantities that are compared;
- `report`: tables, and a document of them.

The package needs the extra ``multimargin[stats]``.
"""

try:
    import pandas as _pandas  # noqa: F401
except ImportError as error:
    raise ImportError(
        f"multimargin.compare needs {error.name}, which is not installed: "
        "pip install 'multimargin[stats]'"
    ) from error

from multimargin.compare.experiment.run import run_experiment
from multimargin.compare.report.collect import per_data, per_split
from multimargin.compare.report.markdown import make_report, write_report
from multimargin.compare.report.significance import win_tie_loss_table
from multimargin.compare.report.table import Table, to_markdown
from multimargin.compare.report.tables import results_frame, results_tables
from multimargin.compare.report.verdict import verdict
from multimargin.compare.results import Result
from multimargin.compare.results_file import read_results
from multimargin.compare.statistics.ranks import (
    FriedmanTest,
    NemenyiTest,
    friedman_test,
    nemenyi_test,
    wilcoxon_tests,
)
from multimargin.compare.statistics.win_tie_loss import WinTieLoss, win_tie_loss

__all__ = [
    "FriedmanTest",
    "NemenyiTest",
    "Result",
    "Table",
    "WinTieLoss",
    "friedman_test",
    "make_report",
    "nemenyi_test",
    "per_data",
    "per_split",
    "read_results",
    "results_frame",
    "results_tables",
    "run_experiment",
    "to_markdown",
    "verdict",
    "wilcoxon_tests",
    "win_tie_loss",
    "win_tie_loss_table",
    "write_report",
]
