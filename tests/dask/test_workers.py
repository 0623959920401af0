"""How parts are dealt to workers."""

from multimargin.dask.workers import dealt, next_to


def test_parts_are_dealt_by_threads_and_neighbours_stay_together() -> None:
    assert dealt({"b": 1, "a": 3}, [None] * 8) == {
        **dict.fromkeys(range(6), "a"),
        **dict.fromkeys((6, 7), "b"),
    }
    # More workers than parts.
    assert dealt({"a": 1, "b": 1, "c": 1}, [None, None]) == {0: "a", 1: "b"}


def test_parts_stay_where_they_are_as_far_as_there_is_room() -> None:
    homes = ["b", "b", "b", "a"]
    assert dealt({"a": 1, "b": 1}, homes) == {0: "b", 1: "b", 2: "a", 3: "a"}
    # A worker that is gone gives its parts away, and one that joins gets its share.
    assert dealt({"b": 1}, homes) == dict.fromkeys(range(4), "b")
    assert dealt({"b": 1, "c": 1}, homes) == {0: "b", 1: "b", 2: "c", 3: "c"}


def test_a_copy_is_on_the_worker_after() -> None:
    assert [next_to(home, ["a", "b", "c"]) for home in "abc"] == ["b", "c", "a"]
