"""What lets others find and trust the site: page metadata, a site map, llms.txt, redirects, a policy.

The Content-Security-Policy is written once the pages are: it names the hash of each inline script.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from docutils import nodes
from sphinx.errors import ExtensionError

if TYPE_CHECKING:
    from typing import Any

    from error_domain import ErrorPage
    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata

CHECKSUMS = "SHA256SUMS"
AFTER_CATALOGUE = 900
INLINE_SCRIPT = re.compile(r"<script(?P<attributes>(?:\s[^>]*)?)>(?P<code>.*?)</script>", re.DOTALL)
POLICY = (
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval' {hashes}; "
    "style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'self'"
)
SITEMAP = (
    '<?xml version="1.0" encoding="utf-8"?>\n'
    '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{urls}</urlset>\n'
)
NOT_LISTED = {"404"}
REFRESH = 'http-equiv="refresh"'
REDIRECT = (
    '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>Moved</title>'
    '<link rel="canonical" href="{url}"><meta http-equiv="refresh" content="0; url={link}">'
    '</head><body><p>This page is now at <a href="{link}">{link}</a>.</p></body></html>\n'
)


def describe_page(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any
) -> None:
    """Add Open Graph tags and, on an error page, the message as structured data."""
    if doctree is None:
        return
    page = app.env.get_domain("autograd").pages.get(pagename)
    url = address(app, pagename)
    title = re.sub(r"<[^>]+>", "", context["title"])
    found = re.search(r'<meta content="([^"]*)" name="description"', context.get("metatags", ""))
    summary = found[1] if found else escape(app.config.autograd_errors_summary)
    tags = {
        "og:type": "article" if page else "website",
        "og:site_name": escape(app.config.project),
        "og:title": escape(title),
        "og:url": escape(url),
        "og:description": summary,
    }
    lines = [f'<meta property="{name}" content="{text}">' for name, text in tags.items()]
    if page is not None:
        data = json.dumps(structured_data(app, page, url), ensure_ascii=False, sort_keys=True)
        lines.append(
            f'<script type="application/ld+json">{data.replace("<", chr(92) + "u003c")}</script>'
        )
    context["metatags"] = context.get("metatags", "") + "\n".join(lines)


def root_links(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Begin the links of the 404 page at the site's root: it is served at any depth."""
    if docname != app.config.notfound_pagename or app.builder.format != "html":
        return
    for link in doctree.findall(nodes.reference):
        if link.get("internal") and link.get("refuri"):
            link["refuri"] = urljoin(app.config.notfound_urls_prefix, link["refuri"])


def focusable_code(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any
) -> None:
    """Let the keyboard reach every block of code: each may scroll, and has nothing to focus."""
    if "body" in context:
        context["body"] = context["body"].replace("<pre>", '<pre tabindex="0">')


def structured_data(app: Sphinx, page: ErrorPage, url: str) -> dict[str, Any]:
    """Return a schema.org TechArticle, with each message as a question that its page answers."""
    header = page.header
    fixes = "; ".join(title for title, _ in page.fixes)
    return {
        "@context": "https://schema.org",
        "@type": "TechArticle",
        "headline": header.title,
        "description": header.summary,
        "url": url,
        "inLanguage": "en",
        "isPartOf": {
            "@type": "WebSite",
            "name": app.config.project,
            "url": app.config.html_baseurl,
        },
        "about": [
            {
                "@type": "Question",
                "name": error.text,
                "acceptedAnswer": {"@type": "Answer", "text": f"{header.summary} {fixes}".strip()},
            }
            for error in header.errors
        ],
    }


def address(app: Sphinx, docname: str) -> str:
    return urljoin(app.config.html_baseurl, app.builder.get_target_uri(docname))


def write_files(app: Sphinx, exception: Exception | None) -> None:
    """Write what is made of all pages together."""
    if exception is not None or app.builder.format != "html":
        return
    out = Path(app.outdir)
    base = app.config.html_baseurl
    robots = f"User-agent: *\nAllow: /\nSitemap: {urljoin(base, 'sitemap.xml')}\n"
    (out / "robots.txt").write_text(robots, encoding="utf-8")
    (out / "sitemap.xml").write_text(sitemap(app), encoding="utf-8")
    (out / "llms.txt").write_text(llms(app), encoding="utf-8")
    (out / CHECKSUMS).write_text(checksums(out), encoding="utf-8")
    write_redirects(app, out)
    write_policies(out)


def checksums(out: Path) -> str:
    """Return the SHA-256 of every file offered for download, as ``sha256sum --check`` reads it."""
    files = sorted([*out.glob("_downloads/*/*"), *out.glob("explain.py")])
    return "".join(
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(out).as_posix()}\n"
        for path in files
    )


def sitemap(app: Sphinx) -> str:
    """Return the list of all pages, those that this build did not write again included."""
    names = sorted(app.env.found_docs - NOT_LISTED)
    urls = "".join(f"<url><loc>{escape(address(app, name))}</loc></url>\n" for name in names)
    return SITEMAP.format(urls=urls)


def llms(app: Sphinx) -> str:
    """Return the site's contents for programs that read text: one line a page."""
    lines = [f"# {app.config.project}", "", f"> {app.config.autograd_errors_summary}", ""]
    lines += ["## Pages", ""]
    for docname, page in sorted(app.env.get_domain("autograd").pages.items()):
        messages = " / ".join(error.text.replace("\n", " ") for error in page.header.errors)
        told = messages or page.header.symptom or page.header.summary
        lines.append(f"- [{page.header.title}]({address(app, docname)}): {told}")
    lines += ["", "## Data", ""]
    lines.append(
        f"- [errors.json]({urljoin(app.config.html_baseurl, 'errors.json')}): all of the above"
    )
    return "\n".join(lines) + "\n"


def read_redirects(path: Path) -> dict[str, str]:
    """Return old -> new addresses from a table of two columns; ``#`` begins a comment."""
    pairs = {}
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        if line and not line.startswith("#"):
            parts = line.split()
            if len(parts) != 2:
                raise ExtensionError(
                    f"{path.name}:{number}: expected an old and a new address, found {line!r}."
                )
            pairs[parts[0]] = parts[1]
    return pairs


def write_redirects(app: Sphinx, out: Path) -> None:
    """Write a page at every former address that leads to the present one."""
    for old, new in read_redirects(Path(app.confdir, app.config.autograd_errors_redirects)).items():
        if not (out / new.partition("#")[0]).exists():
            raise ExtensionError(f"redirects.txt: expected a page at {new!r}, found none.")
        if (out / old).exists() and REFRESH not in (out / old).read_text("utf-8"):
            raise ExtensionError(f"redirects.txt: {old!r} is a page of the site: remove the line.")
        (out / old).parent.mkdir(parents=True, exist_ok=True)
        link = "../" * old.count("/") + new
        text = REDIRECT.format(url=escape(urljoin(app.config.html_baseurl, new)), link=escape(link))
        (out / old).write_text(text, encoding="utf-8")


def write_policies(out: Path) -> None:
    """Give every page a policy that allows its own inline scripts and nothing from elsewhere."""
    for page in out.rglob("*.html"):
        text = page.read_text("utf-8")
        if "Content-Security-Policy" in text or '<meta charset="utf-8">' not in text:
            continue
        hashes = {
            base64.b64encode(hashlib.sha256(script["code"].encode()).digest()).decode()
            for script in INLINE_SCRIPT.finditer(text)
            if "src=" not in script["attributes"] and "json" not in script["attributes"]
        }
        policy = POLICY.format(hashes=" ".join(f"'sha256-{digest}'" for digest in sorted(hashes)))
        meta = f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        charset = '<meta charset="utf-8">'
        page.write_text(text.replace(charset, f"{charset}\n    {meta}", 1), encoding="utf-8")


def setup(app: Sphinx) -> ExtensionMetadata:
    app.add_config_value("autograd_errors_summary", "", "html", str)
    app.add_config_value("autograd_errors_redirects", "redirects.txt", "html", str)
    app.connect("doctree-resolved", root_links, priority=800)
    app.connect("html-page-context", describe_page, priority=800)
    app.connect("html-page-context", focusable_code, priority=800)
    app.connect("build-finished", write_files, priority=AFTER_CATALOGUE + 50)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
