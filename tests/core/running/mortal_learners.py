"""A learner and an executor that die, for the tests of what is left when they do."""

import os
from concurrent.futures import BrokenExecutor, Executor, Future

import safeteach as st


class Mortal(st.UCBVI):
    """UCBVI in a process that ends, without a word, at its third episode."""

    def observe(self, episode):
        if self.transitions.visits.sum() == 2 * self.known.H:
            os._exit(1)
        super().observe(episode)


class Clumsy(st.UCBVI):
    """UCBVI with a mistake in it."""

    def observe(self, _episode):
        raise ZeroDivisionError("a mistake in the learner")


class ShortLived(Executor):
    """An executor that runs what it is given at once, some of it, and then dies."""

    def __init__(self, runs):
        self.runs = runs

    def submit(self, call, /, *args, **kwargs):
        if self.runs == 0:
            raise BrokenExecutor("out of breath")
        self.runs -= 1
        future = Future()
        future.set_result(call(*args, **kwargs))
        return future
