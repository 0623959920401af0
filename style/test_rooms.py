"""The folders of the package stand in an order: each imports only what is further down."""

import ast
import re
from pathlib import Path

import multimargin

PACKAGE = Path(multimargin.__file__).parent

# From the bottom up.
ROOMS = [
    "_rust",
    "typing",
    "scikit_learn",
    "versions",
    "durations",
    "whole_process",
    "notices",
    "workers",
    "whole_fits",
    "blas",
    "decompositions",
    "checks",
    "targets",
    "features",
    "files",
    "interrupts",
    "kernels",
    "measures",
    "scaling",
    "embeddings",
    "datasets",
    "tuning",
    "thresholds",
    "calibration",
    "blocks",
    "reference",
    "estimators",
    "inspection",
    "plots",
    "methods",
    "dask",
    "model_files",
    "onnx",
    "verification",
    "baselines",
    "compare",
    "cli",
]


def imported(file: Path) -> set[str]:
    """The modules of the package that a file imports, at its top or inside of functions."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file} imports by a relative name"
            found |= {f"{node.module}.{name.name}" for name in node.names}
    return {name for name in found if name.startswith("multimargin.")}


def room_of(name: str) -> str:
    # The package itself exports the version and names of rooms.
    room = name.split(".")[1]
    return room if room in ROOMS else multimargin._ELSEWHERE.get(room, "estimators")


def test_every_room_has_its_place() -> None:
    names = {path.stem for path in PACKAGE.iterdir() if path.suffix in ("", ".py", ".pyi")}
    assert names - {"__init__", "__main__", "__pycache__", "py.typed"} == set(ROOMS)


def test_imports_point_down() -> None:
    for file in PACKAGE.rglob("*.py"):
        room = Path(file.relative_to(PACKAGE).parts[0]).stem
        for name in imported(file) if room in ROOMS else ():
            down = ROOMS.index(room_of(name)) <= ROOMS.index(room)
            assert down or name == "multimargin.__version__", f"{file} imports {name}"


def module_of(name: str) -> Path | None:
    """The file of a module of the package, or of the module that has the name."""
    for parts in (name.split(".")[1:], name.split(".")[1:-1]):
        file = PACKAGE.joinpath(*parts)
        if file.with_suffix(".py").is_file() and parts:
            return file.with_suffix(".py")
    return None


def in_circles(used: dict[Path, set[Path | None]]) -> list[Path]:
    """The files that use themselves by way of others."""
    reached = {file: set(below) for file, below in used.items()}
    for between in reached:
        for found in reached.values():
            if between in found:
                found |= reached[between]
    return [file for file, found in reached.items() if file in found]


def test_no_module_imports_itself_by_way_of_others() -> None:
    """Imports inside of functions and for types are imports, too."""
    files = [file for file in PACKAGE.rglob("*.py") if file.name != "__init__.py"]
    used = {file: {module_of(name) for name in imported(file)} & {*files} for file in files}
    assert not in_circles(used)


def test_private_names_of_libraries_are_in_one_file() -> None:
    for file in PACKAGE.rglob("*.py"):
        if file.name == "scikit_learn.py":
            continue
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            names: list[str] = []
            if isinstance(node, ast.Import):
                names = [name.name for name in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [f"{node.module}.{name.name}" for name in node.names]
            for name in names:
                if not name.startswith(("multimargin.", "__future__")):
                    assert "._" not in name, f"{file} imports {name}"


# Rooms of the estimators that know no method, the lowest first.
SHARED = ("fitting", "pairwise", "bases")


def test_what_estimators_share_knows_no_method() -> None:
    for place, room in enumerate(SHARED):
        below = tuple(f"multimargin.estimators.{name}" for name in SHARED[: place + 1])
        for file in (PACKAGE / "estimators" / room).rglob("*.py"):
            for name in imported(file):
                shared = not name.startswith("multimargin.estimators.") or name.startswith(below)
                assert shared, f"{file} imports {name}"


def test_every_room_says_what_is_in_it() -> None:
    for file in PACKAGE.rglob("__init__.py"):
        assert ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))), file


TESTS = Path(__file__).parents[1] / "tests"

OF_NO_ROOM = ("agreement", "campaign", "optimum", "published", "tools")

# What holds for several modules, by its subject.
SUBJECTS = {
    "blocks/test_extremes.py",
    "cli/test_documented.py",
    "cli/test_fit_interrupted.py",
    "dask/test_interrupts.py",
    "dask/test_lost_states.py",
    "dask/test_lost_workers.py",
    "datasets/test_damaged_files.py",
    "datasets/test_shared_data.py",
    "estimators/pairwise/test_class_weight.py",
    "estimators/fitting/test_late_interrupts.py",
    "estimators/pairwise/test_top_k.py",
    "estimators/test_bad_input.py",
    "estimators/test_certificates.py",
    "estimators/test_frames.py",
    "estimators/test_indefinite_kernels.py",
    "estimators/test_lean_models.py",
    "estimators/test_new_rows.py",
    "estimators/test_nonsense_parameters.py",
    "estimators/test_of_label_indicators.py",
    "estimators/test_scikit_learn.py",
    "estimators/test_thousands_of_labels.py",
    "measures/test_measures.py",
    "reference/test_identities.py",
    "reference/test_slips.py",
    "reference/test_theorems.py",
    "thresholds/test_thresholds.py",
}


def test_tests_mirror_the_package() -> None:
    """Tests in a folder have the name of a module in its counterpart, or are listed as subjects."""
    files = {
        file.relative_to(TESTS)
        for file in TESTS.glob("*/**/test_*.py")
        if file.relative_to(TESTS).parts[0] not in OF_NO_ROOM
    }
    others = set()
    for file in files:
        folder, name = PACKAGE / file.parent, file.stem.removeprefix("test_")
        modules = (folder / f"{name}.py", folder / f"_{name}.py", folder / name / "__init__.py")
        if not any(module.exists() for module in modules):
            others.add(file.as_posix())
    assert others == SUBJECTS


def test_errors_are_worded_in_one_way() -> None:
    """An argument "is" or "has" what was found; what is expected follows."""
    worded = [file for file in PACKAGE.rglob("*.py") if ": found " in file.read_text("utf-8")]
    assert worded == []


CUTS = re.compile(r"!r:[^}]*\.|\[:[0-9]+\]!r|repr\([^()]*\)\[:|str\([^()]*\)\[:")


def test_values_in_messages_are_cut_in_one_way() -> None:
    """`checks.names.quoted` keeps the closing quote, and shows that something is left out."""
    cuts = {file: CUTS.findall(file.read_text("utf-8")) for file in PACKAGE.rglob("*.py")}
    assert {file: found for file, found in cuts.items() if found} == {}


CRATE = Path(__file__).parents[1] / "rust" / "solvers" / "src"
# From the bottom up.
ROOMS_OF_RUST = {
    "": [
        *("error", "parallel", "memory", "linalg", "labels"),
        *("tuning", "anderson", "movements", "report"),
        *("kernel", "llsf", "mlrl", "pairwise"),
    ],
    "pairwise": [
        *("tuning", "loss", "scores", "setup", "bcd", "admm", "rule", "prompt"),
        *("accelerator", "outer", "bias", "parts", "solve", "published", "request", "any_loss"),
    ],
}


def used_in_rust(file: Path) -> set[str]:
    """The modules of the crate that a file names outside of its comments and tests."""
    code = file.read_text(encoding="utf-8").split("#[cfg(test)]\nmod tests {")[0]
    code = re.sub(r"//.*", "", code)
    above = file.relative_to(CRATE).parts[:-1]
    modules = above if file.stem == "mod" else (*above, file.stem)
    found = set()
    for path in re.findall(r"\b(?:crate|super)(?:::(?:\w+|\{[^}]*\}))+", code):
        head, *rest = path.split("::", 1)[0], *path.split("::")[1:]
        start = () if head == "crate" else modules[:-1]
        while rest and rest[0] == "super":
            start, rest = start[:-1], rest[1:]
        for name in re.findall(r"\w+", rest[0]) if rest else ():
            found.add("::".join((*start, name, *rest[1:])))
    return found


def test_rooms_of_rust_use_what_is_further_down() -> None:
    for above, rooms in ROOMS_OF_RUST.items():
        folder = CRATE / above
        names = {path.stem for path in folder.iterdir()} - {"lib", "mod"}
        assert names == set(rooms)
        for file in folder.rglob("*.rs"):
            room = file.relative_to(folder).parts[0].removesuffix(".rs")
            counts = room in rooms and file.stem != "tests"
            for used in used_in_rust(file) if counts else ():
                name = used.removeprefix(f"{above}::").split("::")[0]
                down = name not in rooms or rooms.index(name) <= rooms.index(room)
                assert down, f"{file} uses {used}"


def file_of_rust(name: str) -> Path | None:
    """The file of a module of the crate, or of the module that has the name."""
    parts = name.split("::")
    files = (
        CRATE.joinpath(*parts[:count]).with_suffix(".rs") for count in range(len(parts), 0, -1)
    )
    return next((file for file in files if file.is_file()), None)


def test_no_file_of_rust_uses_itself_by_way_of_others() -> None:
    files = [file for file in CRATE.rglob("*.rs") if file.stem not in ("mod", "lib", "tests")]
    used = {file: {file_of_rust(name) for name in used_in_rust(file)} - {file} for file in files}
    assert not in_circles({file: below & {*files} for file, below in used.items()})
