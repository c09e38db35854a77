"""The assertion that promptfooconfig.yaml names."""

from precis.integrations.promptfoo import get_assert

__all__ = ["get_assert"]
