"""Run every benchmark of this folder, one process each.

python benchmarks/run_all.py
"""

import subprocess
import sys
from pathlib import Path

NOT_BENCHMARKS = {"common.py", Path(__file__).name}


def main() -> None:
    """Run the scripts in alphabetical order; exit with 1 when one fails."""
    failed = []
    for script in sorted(Path(__file__).parent.glob("*.py")):
        if script.name in NOT_BENCHMARKS:
            continue
        print(f"\n== {script.name}", flush=True)
        if subprocess.run([sys.executable, script], check=False).returncode != 0:
            failed.append(script.name)
    sys.exit(f"failed: {', '.join(failed)}" if failed else 0)


if __name__ == "__main__":
    main()
