"""Build the site and check it: ``nox -s docs`` is all a contributor needs."""

from pathlib import Path

import nox

nox.needs_version = ">=2024.10.9"
nox.options.default_venv_backend = "virtualenv"
nox.options.reuse_venv = "yes"
nox.options.sessions = ["docs", "tests"]

PYPROJECT = nox.project.load_toml("pyproject.toml")
SITE = Path("docs", "_build", "html")
HOSTED = {
    "github-workflows": sorted(Path(".github", "workflows").glob("*.yml")),
    "dependabot": [Path(".github", "dependabot.yml")],
    "readthedocs": [Path(".readthedocs.yaml")],
}


def install(session: nox.Session, group: str) -> None:
    """Install a dependency group of pyproject.toml, in the versions of constraints.txt."""
    dependencies = nox.project.dependency_groups(PYPROJECT, group)
    session.install("--constraint", "constraints.txt", *dependencies)


def build(session: nox.Session, *options: str) -> None:
    """Build the whole site; a warning is an error."""
    session.run("python", "-m", "tools.build_site", "docs", str(SITE), *options, *session.posargs)


@nox.session
def docs(session: nox.Session) -> None:
    """Run every script on the CPU and build the site. `-- -D plot_gallery=0` runs none."""
    install(session, "docs")
    build(session)


@nox.session(name="docs-cuda")
def docs_cuda(session: nox.Session) -> None:
    """Run every script with CUDA as torch's default device and build the site."""
    install(session, "docs")
    session.run("python", "-m", "tools.require_cuda")
    build(session, "-D", "autograd_errors_device=cuda")


@nox.session(name="docs-live")
def docs_live(session: nox.Session) -> None:
    """Rebuild on every change and serve the site."""
    install(session, "live")
    session.run(
        "sphinx-autobuild", "docs", str(SITE), "--watch", "gallery", "--watch", "glossary",
        "--ignore", "docs/errors", *session.posargs,
    )  # fmt: skip


@nox.session
def tests(session: nox.Session) -> None:
    """Run all tests; the browser ones install Debian's chromium if there is none."""
    install(session, "tests")
    session.run("python", "-m", "tools.require_browser")
    session.run("pytest", "-n", "auto", "--dist", "worksteal", *session.posargs)


@nox.session
def standalone(session: nox.Session) -> None:
    """Run every script the way a reader does: alone, with only what it declares."""
    session.run("python", "-m", "tools.standalone", *session.posargs)


@nox.session
def check(session: nox.Session) -> None:
    """Check single pages as the build does: `nox -s check -- gallery/plot_x.py`."""
    install(session, "docs")
    session.run("python", "-m", "tools.check_page", *session.posargs)


@nox.session(name="new-page")
def new_page(session: nox.Session) -> None:
    """Ask for a message and write the skeleton of its page."""
    session.run("python", "-m", "tools.new_page", *session.posargs)


@nox.session
def record(session: nox.Session) -> None:
    """Run every script in another environment: `nox -s record -- torch-1.8.1-cpu`."""
    install(session, "docs")
    session.run("python", "-m", "tools.record", *session.posargs)


@nox.session
def inventory(session: nox.Session) -> None:
    """Renew the committed list of torch's names that pages link to."""
    install(session, "docs")
    session.run("python", "-m", "tools.torch_inventory")


@nox.session
def operations(session: nox.Session) -> None:
    """Try all differentiable operations and write what they save, view and share."""
    install(session, "operations")
    session.run("python", "-m", "tools.operations", *session.posargs)


@nox.session
def bench(session: nox.Session) -> None:
    """Measure the figures of the design, as a table and as JSON."""
    install(session, "bench")
    session.run("python", "-m", "tools.bench", *session.posargs)


@nox.session
def lint(session: nox.Session) -> None:
    """Check style, spelling, and the files that hosts read."""
    install(session, "lint")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("codespell")
    for schema, paths in HOSTED.items():
        session.run("check-jsonschema", "--builtin-schema", f"vendor.{schema}", *map(str, paths))


@nox.session
def linkcheck(session: nox.Session) -> None:
    """Follow every link of the site; needs network."""
    install(session, "docs")
    session.run(
        "sphinx-build", "-b", "linkcheck", "docs", "docs/_build/linkcheck", *session.posargs
    )
