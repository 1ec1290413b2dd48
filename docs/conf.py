"""Configuration of the site: values only."""

import os
import sys
from pathlib import Path
from urllib.parse import urlsplit

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

# -- Project -------------------------------------------------------------------------------------
project = "Autograd Errors"
author = "The Autograd Errors contributors"
copyright = author
html_baseurl = os.environ.get("AUTOGRAD_ERRORS_URL", "https://autograd-errors.github.io/")
repository = os.environ.get(
    "AUTOGRAD_ERRORS_REPOSITORY", "https://github.com/autograd-errors/autograd-errors"
)

# -- Extensions ----------------------------------------------------------------------------------
extensions = [
    "myst_parser",
    "notfound.extension",
    "sphinx.ext.intersphinx",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    # our own, in docs/_ext, in the order of the data flow
    "gallery_build",
    "graph_pictures",
    "error_domain",
    "error_page",
    "short_navigation",
    "recorded_output",
    "release_history",
    "operation_tables",
    "glossary_backlinks",
    "rewritten_pages",
    "coverage_report",
    "error_catalogue",
    "explain_file",
    "paste_box",
    "page_weight",
    "site_search",
    "site_files",
]

# -- Errors --------------------------------------------------------------------------------------
autograd_errors_device = os.environ.get("AUTOGRAD_ERRORS_DEVICE", "cpu")
autograd_errors_repository = repository
autograd_errors_summary = (
    "Every error, warning and silent mistake of PyTorch's autograd, reproduced, repaired, and "
    "proved with a gradient known another way."
)
autograd_errors_families = {
    "leaf": "Leaf tensors",
    "view": "Views",
    "version": "Modified by an in-place operation",
    "saved": "Saved tensors and their hooks",
    "backward": "Calling backward and grad",
    "grad": "The gradient attribute",
    "requires": "Requiring gradients",
    "silent": "Silently wrong",
    "nan": "NaN gradients",
    "loss": "Losses",
    "parameter": "Modules and parameters",
    "optimizer": "Optimizers",
    "numpy": "NumPy and Python numbers",
    "copy": "Copying and pickling",
    "inference": "Inference mode",
    "overlap": "Overlapping memory",
    "inplace": "Shapes and dtypes of in-place writes",
    "out": "Writing to out= tensors",
    "data": "Replacing and resizing data",
    "device": "Devices",
    "anomaly": "Anomaly mode",
    "function": "Custom functions",
    "op": "Custom operators",
    "hook": "Hooks",
    "double": "Double backward",
    "derivative": "Missing derivatives",
    "forward": "Forward-mode AD",
    "func": "Function transforms",
    "functional": "torch.autograd.functional",
    "gradcheck": "Checking gradients",
    "checkpoint": "Checkpointing",
    "ddp": "Distributed training",
    "amp": "Mixed precision",
    "complex": "Complex tensors",
    "compile": "torch.compile",
    "jit": "TorchScript",
    "multiprocessing": "Multiprocessing",
    "cuda": "CUDA",
    "case": "Cases",
    "guide": "Guides",
}
autograd_errors_family_pictures = {  # family: its page, and the title of a picture on it
    "leaf": ("leaf-what-is", "A leaf and a result"),
    "view": ("view-of-leaf", None),
    "version": ("version-modified", "After the write"),
    "backward": ("backward-no-grad-fn", None),
    "grad": ("grad-of-nonleaf", None),
    "requires": ("requires-grad-intermediate", None),
    "silent": ("silent-function-lists", None),
    "nan": ("nan-where", None),
    "parameter": ("parameter-non-leaf", None),
    "optimizer": ("optimizer-non-leaf", None),
    "copy": ("copy-deepcopy", None),
    "function": ("function-mark-dirty", "Marked"),
    "hook": ("hook-tensor", None),
    "double": ("double-create-graph", "With create_graph"),
    "checkpoint": ("checkpoint-use-reentrant", None),
    "guide": ("guide-assignment", "8. CopySlices"),
}

# -- Links ---------------------------------------------------------------------------------------
default_role = "any"
nitpicky = True
intersphinx_mapping = {"torch": ("https://docs.pytorch.org/docs/2.13/", "_data/torch.inv")}
intersphinx_disabled_reftypes = ["std:doc"]

# -- Sources -------------------------------------------------------------------------------------
exclude_patterns = ["_build", "_data", "_ext", "errors/*.json"]
suppress_warnings = ["config.cache"]
myst_enable_extensions = ["colon_fence", "deflist"]
sphinx_gallery_conf = {
    "examples_dirs": "../gallery",
    "gallery_dirs": "errors",
    "within_subsection_order": "FileNameSortKey",
    "capture_repr": (),
    "image_scrapers": ("matplotlib", "graph_pictures.scrape"),
    "reset_modules": (),  # every script runs in a process of its own
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 10_000,  # timings differ from build to build
    "write_computation_times": False,
    "download_all_examples": False,
    "inspect_global_variables": False,  # variables would become links to torch.Tensor
    "remove_config_comments": True,
    "copyfile_regex": r"index\.rst",
    "plot_gallery": os.environ.get("AUTOGRAD_ERRORS_RUN", "1") == "1",
}

# -- HTML ----------------------------------------------------------------------------------------
html_theme = "furo"
html_title = project
html_static_path = ["_static"]
templates_path = ["_templates"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
html_last_updated_fmt = None
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"
html_theme_options = {
    "top_of_page_buttons": ["edit"],
    "source_repository": repository,
    "source_branch": "main",
    "source_directory": "docs/",
}
copybutton_prompt_text = r">>> |\.\.\. "
copybutton_prompt_is_regexp = True

notfound_urls_prefix = urlsplit(html_baseurl).path

# -- Link check ----------------------------------------------------------------------------------
linkcheck_timeout = 20
linkcheck_retries = 2
