"""What the papers print, one file per paper: a line a measure and data set, a column per method.

Of Zhang & Yeung 2013 the files hold emotions, scene, yeast and rcv1(subset1); of the others all
data sets. Values that a paper prints in percent are divided by 100.
"""

from pathlib import Path

import pandas as pd


def printed(name: str) -> dict[str, pd.DataFrame]:
    """Return the printed tables of a paper.

    Parameters
    ----------
    name : str
        A file of this folder without its ending: rank_cvm, mlrl, mlrl_semi, mlodm or llsf.

    Returns
    -------
    dict of str to DataFrame
        By key of `multimargin.measures.all_measures`: one row per data set, one column per method.
    """
    lines = pd.read_csv(Path(__file__).parent / f"{name}.csv")
    return {
        str(measure): part.drop(columns="measure").set_index("data")
        for measure, part in lines.groupby("measure", sort=False)
    }
