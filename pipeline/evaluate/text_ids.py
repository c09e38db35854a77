"""Names of the texts that evidence points to: their paths in the request."""

GENERATED = "generated.text"
SOURCE = "datum.entry.text"
GOLD_SUMMARY = "datum.summary.summary"
MAIN_THEME = "datum.summary.main_theme"


def key_fact(index: int) -> str:
    """Path of a key fact."""
    return f"datum.summary.key_facts[{index}]"


def outline_point(index: int) -> str:
    """Path of an outline point."""
    return f"datum.summary.logical_outline[{index}]"


def entity(index: int) -> str:
    """Path of an entity."""
    return f"datum.summary.entity_list[{index}]"
