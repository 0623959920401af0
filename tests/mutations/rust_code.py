"""Flips in the crate: operators between spaces, each compiled in a copy of the sources."""

import os
import re
import resource
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from targets import CRATE, ROOT

FLIPS = {
    "+": "-",
    "-": "+",
    "+=": "-=",
    "-=": "+=",
    "<": ">=",
    "<=": ">",
    ">": "<=",
    ">=": "<",
    "==": "!=",
    "!=": "==",
}
_OPERATOR = re.compile(r"(?<= )(?:[+\-]=?|[<>]=?|[=!]=)(?= )")
# Bounds of types and what only tells of itself are no code of the mathematics.
_OTHER = re.compile(r"^\s*(?://|#\[|impl|where|pub trait|trait|debug_assert|use )|dyn ")

# Quick to compile; the loops are slower, which costs less than a whole build a flip.
_PROFILE = {
    "CARGO_INCREMENTAL": "1",
    "CARGO_PROFILE_RELEASE_LTO": "off",
    "CARGO_PROFILE_RELEASE_CODEGEN_UNITS": "16",
    "CARGO_PROFILE_RELEASE_DEBUG": "0",
}
_UNIT_TESTS = ("test", "--lib", "--package", "multimargin-solvers")


def limit_processor_time(seconds: int) -> None:
    """End this process, and each that it starts, after so many seconds of a processor."""
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))


@dataclass(frozen=True)
class RustFlip:
    """The operator at `start` of a file, turned round."""

    file: Path
    start: int
    old: str
    text: str

    def __str__(self) -> str:
        return self.text

    def source(self) -> str:
        """The file with that operator."""
        text = self.file.read_text(encoding="utf-8")
        return text[: self.start] + FLIPS[self.old] + text[self.start + len(self.old) :]


def rust_flips(file: Path) -> list[RustFlip]:
    """Every flip of a file outside of its tests."""
    text = file.read_text(encoding="utf-8").split("#[cfg(test)]")[0]
    flips, start = [], 0
    for number, line in enumerate(text.splitlines(keepends=True), start=1):
        if not _OTHER.search(line):
            for match in _OPERATOR.finditer(line.split("//")[0]):
                old = match.group()
                shown = f"{file.relative_to(CRATE)}:{number}  {old} to {FLIPS[old]}"
                text_of = f"{shown} in `{line.strip()}`"
                flips.append(RustFlip(file, start + match.start(), old, text_of))
        start += len(line)
    return flips


class Extension:
    """A copy of the sources, and what is built of it with one flip."""

    def __init__(self) -> None:
        self._copy = ROOT / "target" / "mutations"
        self._copy.mkdir(parents=True, exist_ok=True)
        for name in ("Cargo.toml", "Cargo.lock"):
            shutil.copy2(ROOT / name, self._copy / name)
        # Times are kept, so that nothing is compiled again that did not change.
        shutil.rmtree(self._copy / "rust", ignore_errors=True)
        shutil.copytree(ROOT / "rust", self._copy / "rust", copy_function=shutil.copy2)
        self.library = self._copy / "target" / "release" / "lib_rust.so"

    def put(self, flip: RustFlip) -> None:
        """Put a flip in place."""
        self._write(flip, flip.source())

    def build(self) -> bool:
        """Compile the extension; False where the flip is no program."""
        return self._cargo("build", "--package", "multimargin-python")

    def build_unit_tests(self) -> bool:
        """Compile the crate's own tests; False where the flip is no program."""
        return self._cargo(*_UNIT_TESTS, "--no-run")

    def unit_tests_pass(self, names: str, seconds: int) -> bool:
        """Whether the crate's own tests of these names notice nothing in so much time."""
        return self._cargo(*_UNIT_TESTS, names, seconds=seconds)

    def restore(self, flip: RustFlip) -> None:
        """Take the flip back."""
        self._write(flip, flip.file.read_text(encoding="utf-8"))

    def _write(self, flip: RustFlip, source: str) -> None:
        (self._copy / flip.file.relative_to(ROOT)).write_text(source, encoding="utf-8")

    def _cargo(self, command: str, *arguments: str, seconds: int | None = None) -> bool:
        done = subprocess.run(
            ["cargo", command, "--release", "--quiet", *arguments],
            cwd=self._copy,
            env=os.environ | _PROFILE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            preexec_fn=None if seconds is None else lambda: limit_processor_time(seconds),
        )
        return done.returncode == 0
