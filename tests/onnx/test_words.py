"""Texts and names in onnxruntime become the numbers that scikit-learn makes of them."""

import json

import numpy as np
import onnxruntime
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer, TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, StandardScaler

from multimargin import CalibratedClassifier, LabelRankerCV, RankLSVM, RankSVM
from multimargin.datasets.table_encoder import with_encoder
from multimargin.onnx import export

TEXTS = [
    "plays audio, Audio na\xefve",
    "Edits \xc9COLE audio a",
    "edits photos\n\nfoo_bar x2",
    "shows  photos \u2014 \xe9cole",
    "",
    "a b c",
    "naxve ~~ plays\t\u2003 audio",
]
TAGS = [["s"], ["s", "e"], ["i", "e"], ["i"], ["s"], ["e"], ["i"]]
# Letters that are unknown, runs of blanks, what is no letter, Kelvin's K, other numerals.
OTHERS = [
    "\xc9cole plays",
    "PLAYS  audio \t nai\u0308ve",
    "na\xefvex na\xefve audio\x00plays",
    "\uf0b7 audio \U0001f600audio",
    "\u314eaudio audio9 audio\u0663",
    "\u65e5\u672c audio\u65e5\u672c",
    " \u212a audi\u2160o photos.photos audio\x85audio",
    "   ",
]

VECTORIZERS = [
    TfidfVectorizer(),
    TfidfVectorizer(sublinear_tf=True, lowercase=False, norm="l1"),
    TfidfVectorizer(stop_words=["audio"], use_idf=False, norm=None),
    CountVectorizer(binary=True),
    make_pipeline(CountVectorizer(min_df=2), TfidfTransformer(sublinear_tf=True)),
    TfidfVectorizer(analyzer="char", ngram_range=(1, 3), sublinear_tf=True),
    CountVectorizer(analyzer="char", ngram_range=(2, 2), lowercase=False),
]


def session_of(model, folder, **options):
    export(model, folder / "model.onnx", **options)
    return onnxruntime.InferenceSession(folder / "model.onnx", providers=["CPUExecutionProvider"])


def strings(values):
    return np.array(values, dtype=object).reshape(len(values), -1)


@pytest.mark.parametrize("vectorizer", VECTORIZERS, ids=repr)
def test_texts(vectorizer, tmp_path):
    model = make_pipeline(vectorizer, RankSVM(kernel="linear", random_state=0)).fit(TEXTS, TAGS)
    session = session_of(model, tmp_path)
    assert [one.name for one in session.get_inputs()] == ["texts"]
    for texts in (TEXTS, OTHERS, OTHERS[:1], [""], ["   "], [""] * 3):
        scores, labels = session.run(["scores", "labels"], {"texts": strings(texts)})
        assert_allclose(scores, model[-1].label_scores(model[:-1].transform(texts)), atol=1e-12)
        np.testing.assert_array_equal(labels, model.predict(texts))
    (none,) = session.run(["scores"], {"texts": np.empty((0, 1), dtype=object)})
    assert none.shape == (0, 3)


@pytest.mark.parametrize("analyzer", ["word", "char"])
def test_any_text(analyzer, tmp_path_factory):
    vectorizer = TfidfVectorizer(analyzer=analyzer, ngram_range=(1, 1 if analyzer == "word" else 3))
    texts = [*TEXTS, "\xdf\u0130\u01c5 stra\xdfe \u03bf\u03b4\u03cc\u03c2"]
    model = make_pipeline(vectorizer, RankLSVM(kernel="linear")).fit(texts, [*TAGS, ["e"]])
    session = session_of(model, tmp_path_factory.mktemp("any"))

    # A capital I with a dot is two characters in small, a final sigma depends on what follows it.
    letters = st.characters(exclude_characters="\u0130\u03a3", exclude_categories=["Cs", "Cn"])
    words = st.sampled_from([word for text in texts for word in text.split()] + ["  ", "\n", "a"])

    @settings(max_examples=150, deadline=None)
    @given(st.lists(st.one_of(words, letters, words.map(str.upper)), max_size=8).map("".join))
    def check(text):
        text = text.replace("\u0130", "").replace("\u03a3", "").replace("\x02", "")
        (scores,) = session.run(["scores"], {"texts": strings([text])})
        assert_allclose(scores, model[-1].label_scores(model[:-1].transform([text])), atol=1e-12)

    check()


def table_of(n):
    random = np.random.default_rng(0)
    words = np.array(["slow", "sad", "fast", "loud", "drums", "piano"])
    table = pd.DataFrame(
        {
            "lyrics": [" ".join(random.choice(words, 5)) for _ in range(n)],
            "year": random.integers(1950, 2020, n).astype(float),
            "key": random.choice(["C", "D", "E"], n).astype(object),
            "tempo": random.normal(100.0, 20.0, n),
            "title": random.choice(["One", "Two", "Thr\xe9e"], n).astype(object),
        }
    )
    Y = np.stack(
        [table.lyrics.str.contains("slow"), table.year > 1990, table.key == "C"], axis=1
    ).astype(int)
    table.loc[::7, "year"] = np.nan
    table.loc[::5, "key"] = np.nan
    return table, Y


KINDS = {
    "lyrics": "text", "year": "number", "key": "nominal", "tempo": "number", "title": "characters"
}  # fmt: skip


def inputs_of(table, single=False):
    numbers = table[["year", "tempo"]].to_numpy(dtype=np.float32 if single else np.float64)
    keys, texts = table[["key"]].fillna(""), table[["lyrics", "title"]]
    strings_of = {"categories": strings(keys.to_numpy()), "texts": strings(texts.to_numpy())}
    return {"X": numbers, **strings_of}


@pytest.mark.parametrize("scaling", ["minmax", "unit", "none"])
def test_a_table_of_all_kinds(scaling, tmp_path):
    table, Y = table_of(160)
    ranker = CalibratedClassifier(RankSVM(kernel="linear", random_state=0), cv=2)
    model = with_encoder(ranker, KINDS, scaling, n_rows=120).fit(table[:120], Y[:120])
    table.loc[121, "key"], table.loc[122, "lyrics"] = "never seen", ""
    test = table[120:]
    session = session_of(model, tmp_path, feature_names=list(table))
    named = session.get_modelmeta().custom_metadata_map
    assert json.loads(named["inputs"]) == {
        "X": ["year", "tempo"], "categories": ["key"], "texts": ["lyrics", "title"]
    }  # fmt: skip
    scores, p, labels = session.run(["scores", "probabilities", "labels"], inputs_of(test))
    assert_allclose(scores, model[-1].label_scores(model[:-1].transform(test)), atol=1e-9)
    assert_allclose(p, model.predict_proba(test), atol=1e-9)
    np.testing.assert_array_equal(labels, model.predict(test))
    session = session_of(model, tmp_path, float32=True)
    assert session.get_inputs()[0].type == "tensor(float)"
    (rounded,) = session.run(["scores"], inputs_of(test, single=True))
    assert rounded.dtype == np.float64
    test = test.assign(tempo=test.tempo.astype(np.float32).astype(float))
    assert_allclose(rounded, model[-1].label_scores(model[:-1].transform(test)), atol=1e-9)


def test_the_default_stack_on_a_table(tmp_path):
    table, Y = table_of(160)
    model = with_encoder(LabelRankerCV([1.0], cv=2, random_state=0), KINDS, "minmax", n_rows=120)
    model.fit(table[:120], Y[:120])
    (scores,) = session_of(model, tmp_path).run(["scores"], inputs_of(table[120:]))
    assert_allclose(
        scores, model[-1].label_scores(model[:-1].transform(table[120:])), atol=1e-5, rtol=1e-6
    )


def test_tables_of_ones_own(tmp_path):
    table, Y = table_of(60)
    table["size"] = np.arange(60) % 4
    known = table[["key"]].fillna("C")
    for parts, frame, inputs in (
        (
            [(OneHotEncoder(), ["key", "title"]), (StandardScaler(), ["tempo"])],
            table.assign(key=known),
            {"categories": ["key", "title"], "X": ["tempo"]},
        ),
        (
            [
                (make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder()), ["key"]),
                (CountVectorizer(), "lyrics"),
                ("passthrough", ["tempo", "size"]),
                (OneHotEncoder(), ["size"]),
            ],
            table,
            {"categories": ["key"], "texts": ["lyrics"], "X": ["tempo", "size"]},
        ),
    ):
        model = make_pipeline(make_column_transformer(*parts), MinMaxScaler(), RankLSVM())
        if "texts" in inputs:
            model.steps[1] = ("scale", "passthrough")
        model.fit(frame, Y)
        given = {
            name: frame[columns].to_numpy(float)
            if name == "X"
            else strings(frame[columns].fillna("").to_numpy())
            for name, columns in inputs.items()
        }
        (scores,) = session_of(model, tmp_path).run(["scores"], given)
        assert_allclose(scores, model[-1].label_scores(model[:-1].transform(frame)), atol=1e-10)


def test_classifiers_around_pipelines_of_texts(tmp_path):
    models = [
        make_pipeline(vectorizer, RankSVM(kernel="linear", random_state=0))
        for vectorizer in (TfidfVectorizer(), TfidfVectorizer(analyzer="char"))
    ]
    texts, tags = TEXTS * 4, TAGS * 4
    model = CalibratedClassifier(models, cv=2).fit(texts, tags)
    (p,) = session_of(model, tmp_path).run(["probabilities"], {"texts": strings(OTHERS)})
    assert_allclose(p, model.predict_proba(OTHERS), atol=1e-10)


@pytest.mark.parametrize(
    ("vectorizer", "told"),
    [
        (TfidfVectorizer(ngram_range=(1, 2)), "expected analyzer='word' with single words"),
        (TfidfVectorizer(token_pattern=r"\w+"), "expected analyzer='word' with single words"),
        (TfidfVectorizer(strip_accents="unicode"), "without preprocessor, tokenizer and strip"),
        (TfidfVectorizer(analyzer="char_wb"), "or analyzer='char'"),
        (TfidfVectorizer(tokenizer=str.split, token_pattern=None), "without preprocessor, token"),
    ],
)
def test_other_ways_to_read_texts_are_refused(vectorizer, told, tmp_path):
    model = make_pipeline(vectorizer, RankSVM(kernel="linear", random_state=0)).fit(TEXTS, TAGS)
    with pytest.raises(ValueError, match=told):
        export(model, tmp_path / "model.onnx")


def test_other_ways_to_read_names_are_refused(tmp_path):
    table, Y = table_of(60)
    for encoder in (OneHotEncoder(drop="first"), OneHotEncoder(max_categories=2)):
        model = make_pipeline(make_column_transformer((encoder, ["title"])), RankSVM())
        with pytest.raises(ValueError, match="without drop, min_frequency and max_categories"):
            export(model.fit(table, Y), tmp_path / "model.onnx")
