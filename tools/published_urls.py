"""Note which addresses a release publishes: ``python -m tools.published_urls [SITE]``.

The list only grows: an address that was published once must answer in every later release.
"""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ET
from pathlib import Path

ROOT = Path(__file__).parents[1]
LIST = ROOT / "docs" / "_data" / "published-urls.txt"
SITE = ROOT / "docs" / "_build" / "html"
NAMESPACE = "{http://www.sitemaps.org/schemas/sitemap/0.9}"


def addresses(site: Path) -> set[str]:
    """Return what *site*'s map lists, relative to the address it is published at."""
    robots = (site / "robots.txt").read_text("utf-8")
    found = next(line for line in robots.splitlines() if line.startswith("Sitemap:"))
    base = found.removeprefix("Sitemap:").strip().removesuffix("sitemap.xml")
    root = ET.parse(site / "sitemap.xml").getroot()
    return {element.text.removeprefix(base) for element in root.iter(f"{NAMESPACE}loc")}


def unanswered(published: set[str], site: Path) -> list[str]:
    """Return the *published* addresses at which *site* has neither a page nor a redirect."""
    return sorted(address for address in published if not (site / address).is_file())


def main(arguments: list[str]) -> int:
    """Add the addresses of a built site to the list."""
    site = Path(arguments[0]) if arguments else SITE
    known = set(LIST.read_text("utf-8").splitlines()) if LIST.exists() else set()
    now = addresses(site)
    LIST.write_text("".join(f"{address}\n" for address in sorted(known | now)), encoding="utf-8")
    print(f"{len(now - known)} addresses added to {LIST.name}, {len(known | now)} in all.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
