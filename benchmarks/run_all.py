"""Run every benchmark of this folder, one process each; the last one is the summary of the ratios.

python benchmarks/run_all.py
"""

import subprocess
import sys
from pathlib import Path

NOT_BENCHMARKS = {"common.py", Path(__file__).name}
SUMMARY = "summary.py"
# What the summary runs.
OF_THE_SUMMARY = {"hard_kernels.py", "hard_linear.py", SUMMARY}


def main() -> None:
    """Run the scripts in alphabetical order, then the summary; exit with 1 when one fails."""
    failed = []
    folder = Path(__file__).parent
    left_out = NOT_BENCHMARKS | OF_THE_SUMMARY
    scripts = [script for script in sorted(folder.glob("*.py")) if script.name not in left_out]
    for script in (*scripts, folder / SUMMARY):
        print(f"\n== {script.name}", flush=True)
        if subprocess.run([sys.executable, script], check=False).returncode != 0:
            failed.append(script.name)
    sys.exit(f"failed: {', '.join(failed)}" if failed else 0)


if __name__ == "__main__":
    main()
