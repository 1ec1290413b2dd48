"""Have sphinx-gallery run every script in isolation, checked against its header.

sphinx-gallery runs scripts in the building process, caches by the script alone and keeps the
pages of deleted scripts. Here each script runs in a child of its own, the cache also depends on
torch, device and this project's extensions, and the build ends with all problems in one list.
"""

from __future__ import annotations

import ast
import hashlib
import json
import platform
import re
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import sphinx_gallery
import torch
from clean_output import clean
from emissions import Emission, missing, observed, undeclared
from graph_svg import renderer_version
from isolated_run import ScriptFailure, run_isolated
from native_output import native_errors
from page_shape import check_shape
from registry import Registry, read_registry, wrong_advice
from script_header import page_id
from sphinx.errors import ExtensionError
from sphinx.util.parallel import ParallelTasks, parallel_available
from sphinx_gallery import gen_rst, utils

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from script_header import ScriptHeader
    from sphinx.application import Sphinx
    from sphinx.config import Config
    from sphinx.util.typing import ExtensionMetadata

BEFORE_GALLERY, AFTER_GALLERY = 200, 800  # sphinx-gallery itself runs at 500
QUIET_WARNINGS = (
    ResourceWarning,
    ImportWarning,
    PendingDeprecationWarning,
    DeprecationWarning,
)
RUNNING_MODULES = ("gallery_build", "graph_pictures")
"""Where the code begins that runs scripts and turns what they do into pages."""
OUTPUT_LIMIT = 1_000_000  # characters; a page shows a few hundred
MANY_TASKS = 100  # enough that no process waits long for the last one
KEPT_VARIABLES = ("passing", "memory_delta", "formatted_exception")
OUTPUT_LANGUAGE = re.compile(
    r"(?m)^( \.\. code-block:: )none$(?=\n\n(?:    .*\n|\n)*?    Traceback \(most recent call last\):)"
)
_sphinx_gallery_execute = gen_rst.execute_script
_sphinx_gallery_generate = gen_rst.generate_file_rst
_sphinx_gallery_check_names = utils.check_spaces_in_filenames


class OutputLimit(BaseException):
    """A script printed too much; not an `Exception`, so that no script catches it by habit."""


class GalleryBuild:
    """One build's scripts, what they may emit, and what went wrong."""

    def __init__(self, config: Config, srcdir: Path, workers: int) -> None:
        gallery = config.sphinx_gallery_conf
        self.pages = Path(srcdir, gallery["gallery_dirs"])
        self.scripts = sorted(Path(srcdir, gallery["examples_dirs"]).resolve().glob("plot_*.py"))
        self.runs_scripts = gallery.get("plot_gallery") not in (False, "False", 0)
        self.device = config.autograd_errors_device
        self.renderer = config.autograd_errors_graph_renderer
        self.time_limit = config.autograd_errors_time_limit
        self.causes = Path(srcdir, config.autograd_errors_causes)
        inventory = Path(srcdir, config.autograd_errors_inventory)
        self.registry: Registry = read_registry(self.scripts, self.causes, inventory)
        self.failures: dict[str, str] = {}
        self.workers = workers if parallel_available else 1
        self.ahead: dict[str, Any] | None = None

    def check_headers(self) -> None:
        """End the build if a header or the shape of a page is not as it must be."""
        advice = wrong_advice(self.causes)
        problems = list(self.registry.problems)
        for name, header in self.registry.headers.items():
            problems += check_shape(self.registry.scripts[name], header, advice)
        stop_if(sorted(map(str, problems)))

    def remove_stale_pages(self) -> None:
        """Delete generated pages whose script is gone; sphinx-gallery keeps them."""
        kept = {script.stem for script in self.scripts}
        for page in self.pages.glob("plot_*.rst"):
            if page.stem not in kept:
                for generated in page.parent.glob(f"{page.stem}.*"):
                    generated.unlink()

    def forget_outputs_of_another_environment(self) -> None:
        """Make every script run again when torch, the device or an extension changed."""
        stamp = self.pages / "environment.md5"
        now = fingerprint(self.device, self.renderer)
        if not stamp.exists() or stamp.read_text() != now:
            for cached in self.pages.glob("plot_*.py.md5"):
                cached.unlink()
            self.pages.mkdir(parents=True, exist_ok=True)
            stamp.write_text(now)

    def runs_here(self, header: ScriptHeader) -> bool:
        """Return whether the building device is one that the script makes sense on."""
        return header.needs in (None, torch.device(self.device).type)

    def execute(
        self,
        blocks: list[Any],
        variables: dict[str, Any],
        gallery_conf: dict[str, Any],
        file_conf: dict[str, Any],
    ) -> tuple[list[str], float]:
        """Run a script's blocks in a child; a stand-in for sphinx-gallery's function."""
        script = Path(variables["src_file"])
        header = self.registry.headers[page_id(script)]
        if not variables["execute_script"] or not self.runs_here(header):
            variables["execute_script"] = False
            return _sphinx_gallery_execute(blocks, variables, gallery_conf, file_conf)

        source = script.read_bytes()

        def child() -> tuple[list[str], float, list[Emission], dict[str, Any]] | None:
            enter(self.device)
            with observed() as seen, native_errors() as native:
                gen_rst._get_code_output = after_native(native)
                gen_rst._LoggingTee.write = in_order(native)
                try:
                    output, elapsed = _sphinx_gallery_execute(
                        blocks, variables, gallery_conf, file_conf
                    )
                except OutputLimit:
                    return None
            kept = {key: variables[key] for key in KEPT_VARIABLES if key in variables}
            return [clean(text, script) for text in output], elapsed, list(seen), kept

        try:
            result = run_isolated(child, header.timeout or self.time_limit)
            if not script.exists() or script.read_bytes() != source:
                script.write_bytes(source)
                raise ScriptFailure("it changed or deleted its own file, which is put back")
            if result is None:
                raise ScriptFailure(f"it printed more than {OUTPUT_LIMIT // 1_000_000} MB")
            output, elapsed, seen, kept = result
        except ScriptFailure as failure:
            self.failures[header.id] = str(failure)
            output, elapsed, seen, kept = [""] * len(blocks), 0.0, [], {"memory_delta": 0.0}
        variables.update(kept)
        md5_file(Path(variables["target_file"])).unlink(missing_ok=True)
        if "formatted_exception" in variables:
            self.failures[header.id] = f"it fails:\n{variables['formatted_exception']}"
        output = [OUTPUT_LANGUAGE.sub(r"\1pytb", text) for text in output]
        record = {"emitted": seen, "output": "\n".join(output)}
        emissions_file(Path(variables["target_file"])).write_text(json.dumps(record, indent=1))
        return output, elapsed

    def generate(self, fname: str, target_dir: str, *rest: Any) -> Any:
        """Generate one page, and with the first one those that can be made at the same time."""
        if self.ahead is None:
            self.ahead = {}
            self.generate_ahead(target_dir, *rest)
        if fname in self.ahead:
            return self.ahead.pop(fname)
        return self.generate_one(fname, target_dir, *rest)

    def generate_ahead(self, target_dir: str, *rest: Any) -> None:
        """Generate the pages of all scripts that must run, several at a time."""
        names = [
            script.name
            for script in self.scripts
            if self.runs_here(self.registry.headers[page_id(script)])
            and not is_current(script, Path(target_dir, script.name))
        ]
        if not self.runs_scripts or len(names) < 2:
            return
        import torch._dynamo  # noqa: F401  # once here, instead of in every script that needs it

        def generate(names: list[str]) -> tuple[list[Any], dict[str, str]]:
            made = [(name, self.generate_one(name, target_dir, *rest)) for name in names]
            return made, self.failures

        def keep(_: Any, result: tuple[list[Any], dict[str, str]]) -> None:
            made, failures = result
            self.ahead.update(made)
            self.failures.update(failures)

        if self.workers < 2:
            return
        tasks = ParallelTasks(self.workers)
        size = max(1, len(names) // MANY_TASKS)
        for start in range(0, len(names), size):
            tasks.add_task(generate, names[start : start + size], keep)
        tasks.join()

    def generate_one(self, fname: str, target_dir: str, *rest: Any) -> Any:
        """Generate one page; a script counts as done only once its page is written."""
        target = Path(target_dir, fname)
        if not (emissions_file(target).exists() and target.with_suffix(".rst").exists()):
            md5_file(target).unlink(missing_ok=True)
        result = _sphinx_gallery_generate(fname, target_dir, *rest)
        if result[-1].get("passing") and page_id(target) not in self.failures:
            md5_file(target).write_text(gen_rst.get_md5sum(target, mode="t"))
        return result

    def check_emissions(self) -> None:
        """End the build if a script did not emit exactly what the headers say."""
        problems = [
            f"{self.registry.scripts[name].name}:1: expected a script that runs to its end, "
            f"but {what}"
            for name, what in sorted(self.failures.items())
        ]
        for name, header in sorted(self.registry.headers.items()):
            page = self.pages / self.registry.scripts[name].name
            if name in self.failures or not emissions_file(page).exists():
                continue
            record = json.loads(emissions_file(page).read_text())
            seen = [Emission(*emission) for emission in record["emitted"]]
            found = [
                f"{page.name}:{error.line}: expected the script to emit {error.text!r}, found "
                f"{[f'{e.raises}: {e.text}' for e in seen] or 'no exception and no warning'}."
                for error in missing(header.errors, seen, record["output"])
            ] + [
                f"{page.name}:1: expected only declared errors (declare it, or name its page in "
                f"'shows'), found '{emission.raises}: {emission.text}'."
                for emission in undeclared(self.registry.allowed(header), seen)
            ]
            if found:
                md5_file(page).unlink(missing_ok=True)
            problems += found
        stop_if(problems)


def stop_if(problems: list[str]) -> None:
    """End the build with all *problems*, if there are any."""
    if problems:
        raise ExtensionError("\n".join(["the gallery does not prove its pages:", *problems]))


def emissions_file(page: Path) -> Path:
    """Return where the emissions of a generated page are kept for later builds."""
    return page.with_suffix(".emissions.json")


def md5_file(page: Path) -> Path:
    """Return sphinx-gallery's mark that a script need not run again."""
    return page.with_name(f"{page.name}.md5")


def is_current(script: Path, page: Path) -> bool:
    """Return whether *script* ran before as it is now."""
    mark = md5_file(page)
    return mark.exists() and mark.read_text() == gen_rst.get_md5sum(script, mode="t")


def after_native(native: Callable[[], str]) -> Callable[..., str]:
    """Return sphinx-gallery's function for a block's output, C++'s words added to the others."""
    get_output = gen_rst._get_code_output

    def with_native(*args: Any) -> str:
        tee = next(arg for arg in args if isinstance(arg, gen_rst._LoggingTee))
        tee.output.write(native())
        return get_output(*args)

    return with_native


def in_order(native: Callable[[], str]) -> Callable[..., None]:
    """Return sphinx-gallery's function that notes what Python writes, C++'s words before it."""
    write = gen_rst._LoggingTee.write
    written = 0

    def write_in_order(tee: gen_rst._LoggingTee, data: str) -> None:
        nonlocal written
        came = native()
        written += len(came) + len(data)
        if written > OUTPUT_LIMIT:
            raise OutputLimit
        if came:
            write(tee, came)
        write(tee, data)

    return write_in_order


def check_names(files: list[str]) -> None:
    """Refuse spaces in the scripts' own names; those of the folders above break no link."""
    _sphinx_gallery_check_names([Path(file).name for file in files])


def enter(device: str) -> None:
    """Prepare a child: Python's own warning filters, and everything made lies on *device*."""
    warnings.resetwarnings()
    for category in QUIET_WARNINGS:
        warnings.simplefilter("ignore", category)
    warnings.filterwarnings("default", category=DeprecationWarning, module="__main__")
    if device != "cpu":
        torch.set_default_device(device)


def fingerprint(device: str, renderer: str) -> str:
    """Return a hash of all that outputs and pictures depend on besides the script itself."""
    parts = [torch.__version__, platform.python_version(), device, sphinx_gallery.__version__]
    parts.append(renderer_version(renderer))
    parts += [path.read_text("utf-8") for path in sorted(own_modules(*RUNNING_MODULES))]
    return hashlib.md5("\0".join(parts).encode()).hexdigest()


def own_modules(*names: str) -> set[Path]:
    """Return the files of this project's modules that the modules *names* are made of."""
    found: set[Path] = set()
    waiting = list(names)
    while waiting:
        path = Path(__file__).with_name(f"{waiting.pop()}.py")
        if path.exists() and path not in found:
            found.add(path)
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.ImportFrom) and node.module:
                    waiting.append(node.module)
                elif isinstance(node, ast.Import):
                    waiting += [name.name for name in node.names]
    return found


def before_gallery(app: Sphinx) -> None:
    build = GalleryBuild(app.config, app.srcdir, app.parallel)
    app.autograd_gallery = build
    build.check_headers()
    build.remove_stale_pages()
    build.forget_outputs_of_another_environment()
    gen_rst.execute_script = build.execute
    gen_rst.generate_file_rst = build.generate
    utils.check_spaces_in_filenames = check_names


def after_gallery(app: Sphinx) -> None:
    gen_rst.execute_script = _sphinx_gallery_execute
    gen_rst.generate_file_rst = _sphinx_gallery_generate
    utils.check_spaces_in_filenames = _sphinx_gallery_check_names
    if app.autograd_gallery.runs_scripts:
        app.autograd_gallery.check_emissions()


def setup(app: Sphinx) -> ExtensionMetadata:
    app.add_config_value("autograd_errors_device", "cpu", "env", str)
    app.add_config_value("autograd_errors_time_limit", 60, "", int)
    app.add_config_value("autograd_errors_causes", "../catalogue/causes.tsv", "env", str)
    app.add_config_value("autograd_errors_inventory", "../catalogue/inventory.tsv", "env", str)
    app.connect("builder-inited", before_gallery, priority=BEFORE_GALLERY)
    app.connect("builder-inited", after_gallery, priority=AFTER_GALLERY)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
