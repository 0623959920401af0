"""What comes by a network can be read by any loop."""

import numpy as np

from multimargin.dask.parts import aligned


def test_arrays_that_lie_anywhere() -> None:
    """A message holds its arrays one after the other, from any byte on."""
    numbers = np.arange(12.0)
    message = b"\0" + numbers.tobytes()
    array = np.frombuffer(message, offset=1).reshape(3, 4)
    assert not array.flags.aligned
    answer = aligned({"weights": array, "others": (2, [array.T, "b"]), "text": "a"})
    assert answer["text"] == "a"
    assert answer["others"][0] == 2
    assert answer["others"][1][1] == "b"
    for copy, value in ((answer["weights"], array), (answer["others"][1][0], array.T)):
        assert copy.flags.aligned
        assert copy.flags.c_contiguous
        np.testing.assert_array_equal(copy, value)
