"""Which files are flipped, and which tests are to notice it."""

from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "pyref" / "multimargin"
CRATE = ROOT / "rust" / "solvers" / "src"


@dataclass(frozen=True)
class Group:
    """Files, as patterns below `root`; the tests of all of them, in the order in which they run.

    `unit_tests` filters the tests of the crate, which run first: they take seconds, and what they
    notice needs no extension and no Python.
    """

    root: Path
    patterns: tuple[str, ...]
    tests: tuple[str, ...]
    unit_tests: str = ""

    @property
    def rust(self) -> bool:
        """Whether the files are those of the crate."""
        return self.root == CRATE

    def tests_of(self, file: Path) -> tuple[str, ...]:
        """The tests of a file: those of its name first, as they are the likeliest to notice."""
        name = f"test_{file.stem.removeprefix('_')}.py"
        own = ROOT / "tests" / file.parent.relative_to(self.root) / name
        if self.rust or not own.exists():
            return self.tests
        return (own.relative_to(ROOT).as_posix(), *self.tests)

    def files(self) -> list[Path]:
        """The files, without tests."""
        found = {file for pattern in self.patterns for file in self.root.glob(pattern)}
        return sorted(file for file in found if file.name not in ("tests.rs", "__init__.py"))


PAIRWISE = ("tests/agreement/test_rank_svm.py", "tests/agreement/test_family_trajectories.py")
FAMILY = (
    *("tests/estimators/shared/test_pairwise.py", "tests/estimators/test_certificates.py"),
    "tests/optimum",
)

GROUPS = {
    "measures": Group(PACKAGE, ("measures/*.py",), ("tests/measures",)),
    "readers": Group(
        PACKAGE,
        (
            *("datasets/arff.py", "datasets/svmlight.py", "datasets/npz.py"),
            *("datasets/_names.py", "datasets/_nominal.py", "datasets/_reading.py"),
            *("datasets/multilabel_data.py",),
        ),
        ("tests/datasets",),
    ),
    "thresholds": Group(PACKAGE, ("thresholds/*.py",), ("tests/thresholds",)),
    "kernels": Group(
        PACKAGE, ("kernels/*.py",), ("tests/kernels", "tests/estimators/test_indefinite_kernels.py")
    ),
    "references": Group(PACKAGE, ("reference/*.py",), ("tests/reference",)),
    "estimators": Group(
        PACKAGE,
        ("estimators/*.py", "estimators/shared/*.py"),
        ("tests/estimators", "tests/optimum", "tests/agreement"),
    ),
    "losses": Group(
        CRATE,
        ("pairwise/loss/*.rs", "pairwise/loss/hinge/*.rs"),
        ("tests/agreement/test_losses.py", *PAIRWISE, *FAMILY),
        "pairwise::loss",
    ),
    "loops": Group(
        CRATE,
        ("pairwise/*.rs", "pairwise/bcd/*.rs", "pairwise/bias/*.rs", "report.rs"),
        (*PAIRWISE, "tests/agreement/test_slow_problems.py", *FAMILY, "tests/dask/test_rounds.py"),
        "pairwise",
    ),
    "networks": Group(CRATE, ("network/*.rs",), (*PAIRWISE, *FAMILY), "network"),
    "simplex": Group(
        CRATE,
        ("rank_cvm/*.rs",),
        ("tests/agreement/test_rank_cvm_trajectory.py", "tests/estimators/test_rank_cvm.py"),
        "rank_cvm",
    ),
    "relationships": Group(
        CRATE,
        ("mlrl/*.rs",),
        (
            "tests/agreement/test_mlrl.py",
            "tests/estimators/test_mlrl.py",
            "tests/estimators/test_ssmlrl.py",
        ),
        "mlrl",
    ),
    "llsf": Group(
        CRATE,
        ("llsf/*.rs",),
        ("tests/agreement/test_llsf.py", "tests/estimators/test_llsf.py"),
        "llsf",
    ),
    "geometries": Group(
        CRATE,
        ("pairwise/scores/*.rs", "kernel/*.rs"),
        (*PAIRWISE, "tests/kernels", *FAMILY, "tests/estimators/test_rank_hlapsvm.py"),
    ),
}
