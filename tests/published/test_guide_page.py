"""Tables go into the guide between their marks, and nowhere else."""

import json
import runpy
from pathlib import Path

import pytest

PAPERS = Path(__file__).parents[2] / "benchmarks" / "papers.py"
PAGE = """# Tables

| part | what | the runs took | here |
|---|---|---|---|
| `llsf/table-I` | table I | 8 s | whole |
| `llsf/figure-5` | cosines | minutes | not run |

<!-- llsf/table-I -->

old

<!-- end -->

What the table says.

<!-- mlodm/table-1 -->
<!-- end -->
"""


def test_the_command_fills_a_page(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs, page = tmp_path / "runs.json", tmp_path / "page.md"
    made = {"llsf figure 5 rcv1(subset1)": {"value": 0.25, "seconds": 3.0}}
    runs.write_text(json.dumps(made), encoding="utf-8")
    page.write_text(PAGE.replace("mlodm/table-1", "llsf/figure-5"), encoding="utf-8")
    for name in ("RUNS", "STORED", "MARKDOWN"):
        monkeypatch.setenv(f"MULTIMARGIN_{name}", "")  # and back when the test ends
    command = [str(PAPERS), "llsf/figure-5", "--runs", str(runs), "--stored", "--guide", str(page)]
    monkeypatch.setattr("sys.argv", command)
    runpy.run_path(str(PAPERS), run_name="__main__")
    text = page.read_text(encoding="utf-8")
    assert (
        "<!-- llsf/figure-5 -->\n\nrcv1(subset1), LLSF: the affinities of label pairs correlate by "
        "0.250" in text
    )
    assert "| `llsf/figure-5` | cosines | 3 s | not run |" in text
    assert "\nold\n" in text
    assert capsys.readouterr().out == ""
