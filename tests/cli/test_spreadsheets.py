from multimargin.cli.spreadsheets import as_cell


def test_only_text_that_would_be_computed_is_changed():
    for value, expected in (
        *((text, f"'{text}") for text in ("=1+1", "+a", "-a", "@SUM(A1)")),
        *(("\t=1", "\\t=1"), ("\r=1", "\\r=1"), ("a\x1b[31m\x00\x85", "a\\x1b[31m\\x00\\x85")),
        *((same, same) for same in ("happy-sad = 1", "'quoted'", "é", "", -1.5, None)),
    ):
        assert as_cell(value) == expected
