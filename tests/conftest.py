"""Settings that all tests share."""

from hypothesis import settings

# The same examples in every run: a failure on one machine is a failure on all.
settings.register_profile("book", derandomize=True, deadline=None)
settings.load_profile("book")
