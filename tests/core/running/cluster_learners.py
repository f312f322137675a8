"""Learners whose process is killed, or that never come to an end, for the test of a cluster."""

import os
import signal
import threading

import safeteach as st


class Struck(st.UCBVI):
    """UCBVI; the first of them that comes to its tenth episode is killed with its process.

    ``omen`` is a file that is made then.
    """

    def __init__(self, known, *, episodes, omen):
        super().__init__(known, episodes=episodes)
        self.omen = omen

    def observe(self, episode):
        super().observe(episode)
        if self.transitions.visits.sum() == 10 * self.known.H:
            try:
                os.close(os.open(self.omen, os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                return
            os.kill(os.getpid(), signal.SIGKILL)


class Endless(st.UCBVI):
    """UCBVI that stands still in its first episode."""

    def observe(self, _episode):
        threading.Event().wait()
