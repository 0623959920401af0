"""Puts a built guide beside the guides of other versions.

python tools/publish_guide.py docs/_build/html SITE VERSION

SITE is the work tree of the branch that is served. The guide goes to SITE/VERSION; that of the
latest release also to SITE/stable, to which SITE/index.html leads; before the first release it
leads to SITE/dev. SITE/versions.json, which the guide's list of versions reads, names them all.
"""

import json
import re
import shutil
import sys
from pathlib import Path

RELEASE = re.compile(r"\d+\.\d+\.\d+")
REDIRECT = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>multimargin</title>
<meta http-equiv="refresh" content="0; url={0}/"><link rel="canonical" href="{0}/"></head>
<body><a href="{0}/">multimargin</a></body>
</html>
"""


def releases(site: Path) -> list[str]:
    """The releases in a site, the latest first."""
    found = [path.name for path in site.iterdir() if RELEASE.fullmatch(path.name)]
    return sorted(found, key=lambda name: tuple(map(int, name.split("."))), reverse=True)


def publish(guide: Path, site: Path, version: str) -> None:
    """Put a guide into a site and rewrite what leads to it."""
    if version != "dev" and not RELEASE.fullmatch(version):
        raise ValueError(f"version is {version!r}; expected 'dev' or three numbers as in '1.2.3'")
    if not (guide / "index.html").is_file():
        raise ValueError(f"{guide} has no index.html; expected a built guide")
    _replace(guide, site / version)
    found = releases(site)
    if version in found[:1]:
        _replace(guide, site / "stable")
    names = [name for name in ("stable", "dev") if (site / name).is_dir()] + found
    (site / "versions.json").write_text(json.dumps(names) + "\n", encoding="utf-8")
    (site / "index.html").write_text(REDIRECT.format(names[0]), encoding="utf-8")
    (site / ".nojekyll").touch()  # folders such as _static are served as they are


def _replace(source: Path, target: Path) -> None:
    if target.exists():
        shutil.rmtree(target)
    shutil.copytree(source, target)


if __name__ == "__main__":
    publish(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])
