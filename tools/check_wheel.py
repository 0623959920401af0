"""Checks an installed wheel or sdist: it is not the checkout, it needs no extra, and it fits.

python tools/check_wheel.py dist    # after: pip install dist/*.whl, in a fresh environment
"""

import sys
from pathlib import Path

import multimargin
from multimargin import LLSF, MLODM, MLRL, RankSVM
from multimargin.datasets import load_debian_tags, load_digit_attributes

# Bytes of a wheel: 1.5 MB are the loops, compiled for three sets of instructions.
LARGEST = 5 * 2**19


def check_files(folder: Path) -> None:
    wheels = sorted(folder.glob("*.whl"))
    for wheel in wheels:
        size = wheel.stat().st_size
        assert "-cp311-abi3-" in wheel.name, f"{wheel.name}: not for every Python from 3.11 on"
        assert size <= LARGEST, f"{wheel.name} has {size} bytes, at most {LARGEST} are wanted"
        print(f"{wheel.name}: {size / 2**20:.2f} MB")


def check_installation() -> None:
    checkout = Path(__file__).resolve().parents[1]
    installed = Path(multimargin.__file__).resolve()
    assert checkout / "pyref" not in installed.parents, f"{installed} is the checkout"
    assert (installed.parent / "py.typed").is_file()


def check_fits() -> None:
    X, Y = load_digit_attributes().split("train")
    X, Y = X[:200], Y[:200]
    words, tags = load_debian_tags().split("train")
    for model, data in (
        (RankSVM(kernel="rbf", random_state=0), (X, Y)),
        (MLODM(kernel="linear", random_state=0), (words[:200], tags[:200])),
        (MLRL(kernel="linear"), (X, Y)),
        (LLSF(), (X, Y)),
    ):
        model.fit(*data)
        assert model.status_ == "converged", model.status_
        assert model.dual_gap_ <= model.tol
        print(f"{type(model).__name__}: {model.status_}, gap {model.dual_gap_:.1e}")


if __name__ == "__main__":
    check_files(Path(sys.argv[1]))
    check_installation()
    check_fits()
