"""How Sphinx builds the documents: the pages of this folder, and the README of every room beside them.

The root of the repository is the source folder: a link works alike on a page of the site and in the repository. A link
that leads nowhere ends the build (scripts/docs).
"""

project = "Precis"
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
root_doc = "docs/index"
include_patterns = [
    "*.md",
    "docs/**.md",
    "**/README.md",
    "inference/core/ARITHMETIC.md",
    "inference/compile/heads/MODEL_CARD.md",
]
exclude_patterns = [".*", "build", "models", "node_modules", "tests", "**.egg-info"]  # folders that are not looked into
myst_heading_anchors = 4
html_theme = "furo"
html_title = "Precis"
html_extra_path = ["site"]  # sends the root of the site to docs/index.html
html_static_path = ["static"]
html_css_files = ["wide.css"]
html_copy_source = False
html_show_copyright = False
html_show_sphinx = False
