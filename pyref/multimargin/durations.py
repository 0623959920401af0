"""Durations in readable units."""


def duration(seconds: float) -> str:
    """Return a duration in seconds, minutes or hours, with about two digits."""
    if seconds < 120.0:
        return f"{seconds:.2g} s" if seconds < 10.0 else f"{seconds:.0f} s"
    return f"{seconds / 60.0:.0f} min" if seconds < 7200.0 else f"{seconds / 3600.0:.1f} h"
