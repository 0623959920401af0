"""Ways to damage a file, all drawn from a random generator."""

import re
from collections.abc import Callable

import numpy as np

Rng = np.random.Generator

_NUMBER = re.compile(rb"-?\d+(?:\.\d+)?")
_NUMBERS = (
    *(b"0", b"-1", b"2", b"255", b"65536", b"2147483647", b"2147483648", b"4000000000"),
    *(b"9223372036854775807", b"18446744073709551616", b"1" + b"0" * 30, b"1" * 400),
    *(
        b"1e300",
        b"-1e308",
        b"1e999",
        b"inf",
        b"-inf",
        b"nan",
        b"0.5",
        b"1e-320",
        b"",
        b"x",
        b"0x10",
    ),
)
_WORDS = (0, 1, 2, 5, 7, 14, 15, 255, 1000, 2**16, 2**24, 2**31 - 1, 2**31, 2**32 - 1)
_TOKENS = (
    *(b"{", b"}", b"[", b"]", b"(", b")", b"'", b'"', b"\\", b"%", b"#", b",", b":", b";", b"?"),
    *(b"\n", b"\r\n", b"\r", b"\t", b"\0", b"\x1b[31m", b"\xff", b"\xe9", b"\xed\xb3\xa9", b" "),
    *(b"@data", b"@attribute", b"@attributes", b"@relation", b"{0,1}", b"numeric", b"string"),
    *(b"<", b">", b"</label>", b"&#0;", b"&x;", b"utf-16", b"null", b"NaN", b"[[[[", b"{}", b"-"),
)


def damaged(content: bytes, other: bytes, rng: Rng) -> bytes:
    """Return a copy after one to three kinds of damage; splices take from another file."""
    for _ in range(int(rng.integers(1, 4))):
        way = _WAYS[int(rng.integers(len(_WAYS)))]
        content = way(content, other, rng) or b"\0"
    return content


def _place(content: bytes, rng: Rng) -> int:
    # Headers decide more than rows: half of the damage goes there.
    end = len(content) if rng.random() < 0.5 else min(len(content), 400)
    return int(rng.integers(end)) if end else 0


def _bits(content: bytes, other: bytes, rng: Rng) -> bytes:
    changed = bytearray(content)
    for _ in range(int(rng.integers(1, 5))):
        changed[_place(content, rng)] ^= 1 << int(rng.integers(8))
    return bytes(changed)


def _bytes(content: bytes, other: bytes, rng: Rng) -> bytes:
    changed = bytearray(content)
    for _ in range(int(rng.integers(1, 5))):
        changed[_place(content, rng)] = int(rng.integers(256))
    return bytes(changed)


def _truncated(content: bytes, other: bytes, rng: Rng) -> bytes:
    return content[: _place(content, rng)]


def _spliced(content: bytes, other: bytes, rng: Rng) -> bytes:
    return content[: _place(content, rng)] + other[_place(other, rng) :]


def _without_part(content: bytes, other: bytes, rng: Rng) -> bytes:
    start = _place(content, rng)
    return content[:start] + content[start + int(rng.integers(1, 40)) :]


def _with_part_twice(content: bytes, other: bytes, rng: Rng) -> bytes:
    start, size = _place(content, rng), int(rng.integers(1, 40))
    times = int(rng.choice([1, 2, 100]))
    return content[: start + size] + content[start : start + size] * times + content[start + size :]


def _another_number(content: bytes, other: bytes, rng: Rng) -> bytes:
    numbers = list(_NUMBER.finditer(content))
    if not numbers:
        return _another_word(content, other, rng)
    span = numbers[int(rng.integers(len(numbers)))]
    number = _NUMBERS[int(rng.integers(len(_NUMBERS)))]
    return content[: span.start()] + number + content[span.end() :]


def _another_word(content: bytes, other: bytes, rng: Rng) -> bytes:
    start = _place(content, rng) // 4 * 4
    word = _WORDS[int(rng.integers(len(_WORDS)))].to_bytes(4, "little")
    return content[:start] + word + content[start + 4 :]


def _token(content: bytes, other: bytes, rng: Rng) -> bytes:
    start = _place(content, rng)
    token = _TOKENS[int(rng.integers(len(_TOKENS)))] * int(rng.choice([1, 1, 1, 500]))
    return content[:start] + token + content[start:]


def _lines(content: bytes, other: bytes, rng: Rng) -> bytes:
    lines = content.split(b"\n")
    first, second = (int(place) for place in rng.integers(len(lines), size=2))
    lines[first] = lines[second]
    return b"\n".join(lines)


_WAYS: tuple[Callable[[bytes, bytes, Rng], bytes], ...] = (
    *(_bits, _bytes, _truncated, _spliced, _without_part, _with_part_twice),
    *(_another_number, _another_number, _another_word, _token, _lines),
)
