"""Property tests: the same examples in every run, and no limit in wall time."""

from hypothesis import settings

settings.register_profile("precis", derandomize=True, deadline=None, database=None, max_examples=60)
settings.load_profile("precis")
