"""The page of the settings of `precis serve`: a section for each model, with a table."""

from itertools import groupby

from server.cli.run.show_settings import list_settings
from server.settings import FILE_VARIABLE


def settings_page() -> str:
    """Returns the page; what the environment sets makes no difference."""
    lines = [
        "# Settings of `precis serve`",
        "",
        "Written by `python -m scripts.reference`. A setting comes from the environment, or else from the TOML file",
        f"that `{FILE_VARIABLE}` names (`port` in `[listen]` is `listen.port`), or else it has its default.",
    ]
    for section, members in groupby(list_settings(), key=lambda one: one.name.rpartition(".")[0]):
        lines += ["", f"## {section or 'General'}", "", "| name | variable | default | values | meaning |"]
        lines.append("|---|---|---|---|---|")
        for one in members:
            cells = (f"`{one.name}`", f"`{one.variable}`", f"`{one.default}`", one.values, one.meaning)
            lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"
