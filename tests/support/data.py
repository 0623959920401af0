"""The folder of real data sets: $MULTIMARGIN_DATA, else ../shared/data beside the checkout."""

import os
from pathlib import Path

DATA = Path(os.environ.get("MULTIMARGIN_DATA", Path(__file__).parents[3] / "shared" / "data"))
