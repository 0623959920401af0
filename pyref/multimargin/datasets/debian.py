"""Tags of software by the words of its description: a real problem that needs no download."""

from pathlib import Path

from multimargin.datasets.multilabel_data import MultilabelData
from multimargin.datasets.npz import load_npz


def load_debian_tags() -> MultilabelData:
    """Load programs of Debian: which tags has a program, by the words of its description?

    Returns
    -------
    MultilabelData
        2335 programs, the counts of 2849 words in their English descriptions (sparse), and 84 tags
        such as "use::editing" and "works-with::image", 7.1 a program. `sample_names` are the names
        of the packages. Two thirds of the rows, drawn at random, are the split "train" (1556), the
        others "test" (779).

    Notes
    -----
    Counts of words are usually weighted before they are fitted, by
    ``TfidfTransformer(sublinear_tf=True)`` for example.

    The tags are *debtags*, a faceted classification which people made by hand
    (https://wiki.debian.org/Debtags). Not every tag that applies has been given, so a perfect score
    is out of reach. Programs with at least 7 facets were taken, one of each source package; labels
    are the facets of at least 50 of them, features the words in at least 5 of their descriptions,
    without English stop words. `tools/build_debian_tags.py` in the repository builds the file.

    From the package index of Debian 12, section main, whose packages are all free software by the
    Debian Free Software Guidelines. Descriptions were written by the packages' maintainers, the
    tags by the contributors to debtags; the counts and tags are given here with thanks to them, the
    descriptions themselves are not. Debian is a registered trademark of Software in the Public
    Interest, Inc.; this package is not affiliated with it.

    Examples
    --------
    >>> from multimargin.datasets import load_debian_tags
    >>> data = load_debian_tags()
    >>> data
    MultilabelData('debian tags', 2335 samples, 2849 sparse features, 84 labels, \
splits={'train': 1556, 'test': 779})
    >>> row = data.sample_names.index("wget")
    >>> [tag for tag, relevant in zip(data.label_names, data.Y[row]) if relevant][-2:]
    ['use::downloading', 'works-with::file']
    """
    return load_npz(Path(__file__).with_name("debian_tags.npz"), name="debian tags")
