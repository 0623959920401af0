"""Names, titles and summaries, and that to list them imports little."""

import subprocess
import sys

from multimargin.compare import BASELINES
from multimargin.methods import METHODS
from multimargin.titles import BASELINE_TITLES, METHOD_TITLES


def test_the_titles_are_those_of_the_methods() -> None:
    for titles, methods in ((METHOD_TITLES, METHODS), (BASELINE_TITLES, BASELINES)):
        found = {method.name: (method.title, method.summary) for method in methods.values()}
        assert found == dict(titles)
        assert list(found) == list(titles)


def test_the_list_of_methods_needs_no_array() -> None:
    program = (
        "import sys\n"
        "from multimargin.cli.run import run\n"
        "assert run(['methods']) == 0\n"
        "heavy = {'numpy', 'scipy', 'sklearn', 'pandas', 'matplotlib'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for name in (*METHODS, *BASELINES):
        assert f"\n{name} " in f"\n{done.stdout}"
