"""Damages one line of a copy at a time, and demands that the verification says so.

python tools/damage.py [--count 200] [--only WORD] [--rust]

Each damage is judged by the random problems of `make verify`, and those of the estimators by what a
user runs, `multimargin verify`, too. The exit code is 1 when one stays unnoticed. With --rust the
compiled losses are damaged, which builds the extension for each.
"""

import argparse
import ast
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
PACKAGE = Path("pyref/multimargin")
# What the verification needs.
COPIED = ("pyref", "tests")
COPIED_FOR_RUST = (*COPIED, "rust", "Cargo.toml", "Cargo.lock", "clippy.toml")


class Damage(NamedTuple):
    """What is replaced in a function (or a whole file, if it is empty) of a file."""

    file: str
    function: str
    old: str
    new: str
    # A method by which a user's verification finds it; `make verify` has to if there is none
    method: str = ""


LAPLACIAN = "rank-hlapsvm --set lam=1"
OF_DIFFERENCES = "rank-svm --set kernel=laplacian"
REFERENCE = [
    Damage("rank_svm", "pairs", "Y == 0", "Y != 1"),
    Damage("rank_svm", "upper_bounds", "/ np.bincount(i)[i]", "/ (1 + np.bincount(i)[i])"),
    Damage("beyond", "tops", "* k_i)", ")"),
    Damage("beyond", "upper_bounds", "S.T @ c_S", "S.T @ c_S / 2"),
    Damage("beyond", "loss", "cp.sum_largest(xi[s.indices], k)", "cp.sum(xi[s.indices])"),
    Damage("rank_svm", "coefficients", "= -1", "= 1"),
    Damage("rank_svm", "problem_18", ">= 1 - xi", ">= 1 + xi"),
    Damage("rank_svm", "problem_18", "xi >= 0, ", ""),
    Damage("rank_svm", "problem_18", "cp.sum_squares(w) / 2", "cp.sum_squares(w)"),
    Damage("rank_svm", "problem_26", "/ 2 - cp.sum(alpha)", "/ 2 + cp.sum(alpha)"),
    Damage("rank_svm", "problem_26", "alpha <= C_i", "alpha <= 2 * C_i"),
    Damage("beyond", "problem_18", ">= 1 - xi", ">= 1 + xi"),
    Damage("beyond", "problem_26", "alpha <= C_i", "alpha <= 2 * C_i"),
    Damage("beyond", "problem_26", "S @ alpha <= k_i * c_S", "S @ alpha <= c_S"),
    Damage("beyond", "problem_26", "H @ alpha == 0", "H @ alpha >= 0"),
    Damage("beyond", "objective_18", "1 - (f[i, m]", "2 - (f[i, m]"),
    Damage("rank_svm", "problem_26", "H @ alpha == 0", "H @ alpha >= 0"),
    Damage("rank_svm", "objective_18", "1 - (f[i, m]", "2 - (f[i, m]"),
    Damage("rank_svm", "objective_26", "- alpha.sum()", "- 2 * alpha.sum()"),
    Damage("rank_cvm", "problem_30", "- nu * rho", "- rho"),
    Damage("rank_cvm", "problem_30", ">= rho - xi", ">= rho - 2 * xi"),
    Damage("rank_cvm", "problem_37", "cp.sum(alpha) == 1", "cp.sum(alpha) == 2"),
    Damage("rank_cvm", "problem_37", ", alpha >= 0", ""),
    Damage("rank_cvm", "quadratic_form", "+ H.T @ H", ""),
    Damage("beyond", "problem_37", "cp.sum(alpha) == 1", "cp.sum(alpha) == 2"),
    Damage("beyond", "problem_37", "alpha >= 0, ", ""),
    Damage("beyond", "theta", "multiply(1 / np.sqrt(C_i)", "multiply(np.sqrt(C_i)"),
    Damage("beyond", "theta", "+ one * cp", "+ cp"),
    Damage("beyond", "theta", "share <= 1, ", ""),
    Damage("beyond", "value_of_theta", "alpha**2 / C_i", "alpha**2 * C_i"),
    Damage("rank_lsvm", "primal", "cp.square(xi)", "xi"),
    Damage("rank_lsvm", "primal", "+ cp.sum_squares(b)", ""),
    Damage("rank_lsvm", "dual", "/ 2 - cp.sum(alpha)", "- cp.sum(alpha)"),
    Damage("rank_lsvm", "objective_primal", "xi**2", "xi"),
    Damage("rank_lsvm", "objective_dual", "/ 2", "/ 1"),
    Damage("mlodm", "problem_10", "** -2", "** -1"),
    Damage("mlodm", "problem_11", "gamma_bar == 1", "gamma_bar >= 2"),
    Damage("mlodm", "problem_12", "gamma_bar == 1", "gamma_bar >= 0"),
    Damage("mlodm", "problem_13", "theta, 1.0)", "theta, 0.5)"),
    Damage("mlodm", "problem_14", "1 - theta - xi", "1 + theta - xi"),
    Damage("mlodm", "problem_15", "mu * cp.square(eps)", "cp.square(eps)"),
    Damage("mlodm", "problem_15", "1 + theta + eps", "1 + eps"),
    Damage("mlodm", "problem_18", "(theta + 1) * cp.sum(beta)", "(theta - 1) * cp.sum(beta)"),
    Damage("mlodm", "problem_18", "/ (2 * mu)", "/ 2"),
    Damage("mlodm", "objective_15", "mu * eps**2", "eps**2"),
    Damage("mlodm", "objective_18", "beta**2 / mu", "beta**2"),
    Damage("rank_hlapsvm", "mean_distance", "(number - 1)", "number"),
    Damage("rank_hlapsvm", "laplacian", "return D_c - W_c", "return D_c + W_c"),
    Damage("rank_hlapsvm", "laplacian", "np.diag(W_c", "np.diag(1.5 * W_c"),
    Damage("rank_hlapsvm", "predict", "F_hat > h", "F_hat >= h"),
    Damage("rank_svm", "predict", "t[:, None] <= F", "t[:, None] < F"),
    Damage("rank_svm", "frank_wolfe", "abs(z) <= epsilon", "abs(z) <= 2 * epsilon"),
    Damage("rank_svmz", "predict", "f[:, :-1] > f", "f[:, :-1] >= f"),
    Damage("llsf", "lipschitz", "2 * sigma_X**2 + 2 *", "sigma_X**2 +"),
    Damage("rank_hlapsvm", "problem_10", "lam * trace / 2", "lam * trace"),
    Damage("rank_hlapsvm", "problem_17", "free=False", "free=True"),
    Damage("rank_hlapsvm", "kernel_27", "np.sqrt(lam)", "lam"),
    Damage("rank_svmz", "weights", "known.sum(axis=1, keepdims=True)", "Y.shape[1]"),
    Damage("rank_svmz", "primal", "margins >= 1 - xi", "margins >= 1 + xi"),
    Damage("rank_svmz", "dual", "cp.sum_squares(G.T @ Z) +", ""),
    Damage("rank_svmz", "dual", "cp.sum(Z, axis=0) == 0", "cp.sum(Z, axis=0) >= 0"),
    Damage("rank_svmz", "objective_primal", "1 - signs(Y)", "1 + signs(Y)"),
    Damage("mlrl", "shares", "known.any(axis=1).sum()", "len(Y)"),
    Damage("mlrl", "problem_6", "cp.trace(Omega) == 1", "cp.trace(Omega) == 2"),
    Damage("mlrl", "trace_norm", "cp.square(cp.normNuc(W))", "cp.sum_squares(W)"),
    Damage("mlrl", "problem_8", "lam / 2", "lam"),
    Damage("mlrl", "problem_10", "== 0 for j", ">= 0 for j"),
    Damage("mlrl", "problem_12", "np.eye(Y.shape[1])", "2 * np.eye(Y.shape[1])"),
    Damage("mlrl", "before_13", "(y[i, j] - y[i, k]) / 2", "(y[i, j] - y[i, k])"),
    Damage("mlrl", "problem_13", "beta_i <= 1 / n", "beta_i <= 2 / n"),
    Damage("mlrl", "problem_14", "np.sqrt(lam2) * F", "lam2 * F"),
    Damage("mlrl", "problem_15", "lam2 / 2", "lam2"),
    Damage("mlrl", "problem_18", "/ (2 * lam2)", "/ lam2"),
    Damage("mlrl", "data_dependent_kernel", "G[l:]", "G[:l]"),
    Damage("llsf", "label_dissimilarity", "1.0 - cosine", "1.0 + cosine"),
    Damage("llsf", "shift", "float(-smallest_label)", "float(-2 * smallest_label)"),
    Damage("llsf", "problem_3", "- cp.sum(cp.multiply(X.T @ Y, W))", "- cp.sum(W)"),
    Damage("llsf", "problem_3", "beta * cp.sum", "2 * beta * cp.sum"),
    Damage("binary", "problem_10", "xi >= 0", "xi >= -1"),
    Damage("binary", "problem_11", "y @ alpha == 0", "y @ alpha >= 1"),
    Damage("binary", "problem_12", "- nu * rho", "- rho"),
    Damage("binary", "problem_13", ">= nu", ">= 1"),
    Damage("binary", "problem_14", "cp.sum(alpha) == 1", "cp.sum(alpha) == 2"),
    Damage("exact", "margin_rho", "4.0 * of_margin_1", "2.0 * of_margin_1"),
    Damage("exact", "relationship", "- largest / (2 * lam)", "- largest / lam"),
    Damage("feasible", "feasible", "np.clip(alpha, 0.0, c)", "alpha + c"),
    Damage("estimators", "kernel", '"sqeuclidean"', '"euclidean"', "rank-svm"),
    Damage("estimators", "kernel", '"cityblock"', '"chebyshev"', OF_DIFFERENCES),
    Damage(
        "estimators",
        "weight_of_the_loss",
        "else -0.5)",
        "else -0.4)",
        "rank-svm --set C=0.1 --set class_weight=sqrt",
    ),
    Damage(
        "estimators", "top", "int(k * q)", "int(k * q) + 1", "rank-svm --set C=0.1 --set top_k=0.5"
    ),
    Damage("estimators", "hyperedge_weights", "1.0 / (rank", "2.0 / (rank", LAPLACIAN),
    Damage(
        "estimators",
        "_of_relationships",
        "of.lam1 / of.lam2",
        "of.lam2 / of.lam1",
        "ssmlrl --set lam2=0.1",
    ),
]
ESTIMATORS = [
    Damage("hypergraph", "degrees", "self.Y.sum(axis=0)", "1.0", LAPLACIAN),
    Damage("hypergraph", "roughness", "float(weight) *", "2.0 *", "rank-hlapsvm"),
    Damage("hypergraph", "gram", "beta=1.0", "beta=0.5", LAPLACIAN),
    Damage("hypergraph", "_weights", "delta - 1.0", "delta", "rank-hlapsvm"),
    Damage("rank_hlapsvm", "_factor", "gram *= lam", "gram *= 2 * lam", LAPLACIAN),
    Damage("ssmlrl", "reduced_kernel", "reduced - V @ V.T", "reduced - 0.5 * V @ V.T", "ssmlrl"),
    Damage("ssmlrl", "reduced_kernel", "+= c", "+= 2 * c", "ssmlrl"),
    Damage("../kernels/kernel", "_spread", "2.0 *", "3.0 *", "rank-svm --set gamma=mean_distance"),
    Damage("../kernels/kernel", "_spread", "X.shape[1] *", "2 *", "rank-lsvm"),
    Damage(
        "pairwise/label_weights",
        "weights_of_counts",
        "EXPONENTS[rule]",
        "1.0",
        "rank-svm --set C=0.1 --set class_weight=sqrt",
    ),
    Damage(
        "pairwise/pair_weights",
        "weights_of_pairs",
        "C / n)",
        "2 * C / n)",
        "rank-svm --set C=0.1 --set pair_weights=uniform",
    ),
    Damage("pairwise/zero_label", "_relative", "- columns", "+ columns", "rank-svmz"),
    Damage(
        "pairwise/zero_label",
        "squared_norm",
        "(len(weights) + 1)",
        "len(weights)",
        "rank-svmz --set kernel=linear",
    ),
    Damage("rank_cvm", "_divided", "1.0 / total", "2.0 / total", "rank-cvm"),
    Damage("pairwise/certificate", "bounds_at_the_margin", "4.0 * dual", "2.0 * dual", "rank-cvm"),
    Damage(
        "pairwise/engine",
        "_solve_compiled",
        "bias=fit.bias - moved",
        "bias=fit.bias",
        "rank-svm --set kernel=linear",
    ),
    Damage(
        "pairwise/pair_weights",
        "pairs_of",
        "relevant * np",
        "(relevant + 1) * np",
        "rank-svm --set C=0.1 --set top_k=2",
    ),
]
LOSSES = [
    Damage(file, "", old, new, method)
    for file, old, new, method in (
        ("hinge.rs", "(1.0 - margin).max(0.0)", "(0.9 - margin).max(0.0)", "rank-svm"),
        ("hinge.rs", "self.lambda * above.min", "0.9 * self.lambda * above.min", "rank-svm"),
        ("squared_hinge.rs", "0.5 * (1.0 - margin)", "0.4 * (1.0 - margin)", "rank-lsvm"),
        (
            "squared_hinge.rs",
            "OptimalMargin::default(),",
            "OptimalMargin::new(0.1, 0.5).unwrap_or_default(),",
            "rank-cvm",
        ),
        ("zero_label.rs", "(t + 1.0 - c)", "(t + 0.9 - c)", "rank-svmz"),
        ("zero_label.rs", "(c + 1.0 - t)", "(c + 0.9 - t)", "rank-svmz"),
        ("optimal_margin.rs", "   (margin - 1.0 - theta)", "   (margin - 1.0)", "mlodm"),
        ("newton/mod.rs", "self.near.1 + mu * self", "self.near.1 + 0.9 * mu * self", "mlodm"),
    )
]


def function_of(text: str, name: str) -> tuple[int, int]:
    """Return where a function of a Python file begins and ends."""
    lines = text.splitlines(keepends=True)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef) and node.name == name:
            assert node.end_lineno is not None
            start = sum(map(len, lines[: node.lineno - 1]))
            return start, sum(map(len, lines[: node.end_lineno]))
    raise ValueError(f"there is no function {name}")


def damaged(text: str, damage: Damage) -> str:
    """Return the text of a file with a damage, which has to fit in one place."""
    start, end = function_of(text, damage.function) if damage.function else (0, len(text))
    inside = text[start:end]
    if inside.count(damage.old) != 1:
        raise ValueError(
            f"{damage.file}: {damage.function} has {damage.old!r} {inside.count(damage.old)} times,"
            " expected once: the list of damages is out of date"
        )
    return text[:start] + inside.replace(damage.old, damage.new) + text[end:]


def path_of(damage: Damage) -> Path:
    """Return the file of a damage in the source tree."""
    if damage.file.endswith(".rs"):
        return Path("rust/solvers/src/pairwise/loss") / damage.file
    folder = "reference" if damage in REFERENCE else "estimators"
    return PACKAGE / folder / f"{damage.file}.py"


def environment_of(copy: Path) -> dict[str, str]:
    """Return an environment in which Python imports the package and the tests of a copy."""
    return os.environ | {"PYTHONPATH": f"{copy / 'pyref'}{os.pathsep}{copy}"}


def finding_of_a_user(copy: Path, method: str) -> str:
    """Return what `multimargin verify` says that a user runs, or nothing if all is well."""
    command = [sys.executable, "-m", "multimargin", "verify", "digits", "--rows", "25"]
    run = subprocess.run(
        [*command, "--method", *method.split()],
        cwd=copy, env=environment_of(copy), capture_output=True, text=True,
    )  # fmt: skip
    said = (run.stdout + run.stderr).strip().splitlines()
    return f"verify: {said[-1]}" if run.returncode != 0 else ""


def finding_of_problems(copy: Path, count: int) -> str:
    """Return what `make verify` says first, or nothing if all is well."""
    command = [sys.executable, "-u", "-m", "tests.campaign", "--count", str(count)]
    with subprocess.Popen(
        command, cwd=copy, env=environment_of(copy), text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    ) as run:  # fmt: skip
        assert run.stdout is not None
        last = ""
        for line in run.stdout:
            if "index " in line or "the reference has no optimum" in line:
                run.terminate()
                return f"make verify: {line.strip()[:150]}"
            last = line
        run.wait()
        return f"make verify: {last.strip()}" if run.returncode != 0 else ""


def refuse_what_is_damaged_before(copy: Path, damages: list[Damage]) -> None:
    """Exit if a copy without damage fails, which would make every damage look found."""
    for method in sorted({damage.method for damage in damages} - {""}):
        if found := finding_of_a_user(copy, method):
            sys.exit(f"without a damage, {method}: {found}")
    if found := finding_of_problems(copy, 20):
        sys.exit(f"without a damage, {found}")


def main() -> None:
    """Judge all damages; the exit code is 1 when one is not found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=200, help="how many random problems")
    parser.add_argument("--only", default="", help="a word of the damages that are made")
    parser.add_argument("--rust", action="store_true", help="damage the compiled losses")
    arguments = parser.parse_args()
    chosen = LOSSES if arguments.rust else REFERENCE + ESTIMATORS
    chosen = [damage for damage in chosen if arguments.only in " ".join(damage)]
    unnoticed = 0
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        for name in COPIED_FOR_RUST if arguments.rust else COPIED:
            source = ROOT / name
            (shutil.copytree if source.is_dir() else shutil.copy)(source, copy / name)
        if arguments.rust:
            build(copy)
        refuse_what_is_damaged_before(copy, chosen)
        for damage in chosen:
            file = copy / path_of(damage)
            whole = file.read_text(encoding="utf-8")
            file.write_text(damaged(whole, damage), encoding="utf-8")
            if arguments.rust:
                build(copy)
            found = damage.method and finding_of_a_user(copy, damage.method)
            found = found or finding_of_problems(copy, arguments.count)
            file.write_text(whole, encoding="utf-8")
            unnoticed += not found
            name = f"{damage.file} {damage.function}: {damage.old} -> {damage.new}"
            print(f"{name}: {found or 'NOT FOUND'}", flush=True)
    print(f"{len(chosen)} damages, {unnoticed} not found")
    sys.exit(bool(unnoticed))


def build(copy: Path) -> None:
    """Build the extension of a copy into its package, soon rather than fast."""
    target = ROOT / "target" / "damage"
    profile = {"LTO": "off", "CODEGEN_UNITS": "16", "OPT_LEVEL": "2", "INCREMENTAL": "true"}
    settings = {f"CARGO_PROFILE_RELEASE_{name}": value for name, value in profile.items()}
    subprocess.run(
        ["cargo", "build", "--release", "-p", "multimargin-python", "--target-dir", str(target)],
        cwd=copy, check=True, env=os.environ | settings,
    )  # fmt: skip
    files = (target / "release").glob("*_rust.*")
    built = next(file for file in files if file.suffix in (".so", ".dylib", ".dll"))
    shutil.copy(built, next((copy / PACKAGE).glob("_rust*.so")))


if __name__ == "__main__":
    main()
