"""All scenarios of the accuracy benchmark, in the order of its table."""
from . import times, lives, places  # noqa: F401
from .scenario import SCENARIOS, Run

__all__ = ["SCENARIOS", "Run"]
