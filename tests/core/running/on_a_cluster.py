"""Comparisons on a cluster of two worker processes, in a Python of its own.

Whoever imports distributed has errors that are pickled in another way; so no test imports it.  As
a script it is told what to do and in which folder.
"""

import logging
import pickle
import sys
import threading
from concurrent.futures import wait
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from core.running.cluster_learners import Endless, Struck
from core.running.histories import all_five

import safeteach as st

MDP = st.instances.ice_corridor()


@contextmanager
def cluster_and_executor():
    """Of two processes of one thread each, which nobody can reach from another machine."""
    from distributed import Client, LocalCluster

    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # workers die on purpose
    with (
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address=None,
        ) as cluster,
        Client(cluster) as client,
        client.get_executor() as executor,
    ):
        yield cluster, executor


def struck(folder):
    """What is compared while one of the workers is killed, and how."""
    makers = all_five(MDP) | {"Struck": partial(Struck, omen=str(folder / "omen"))}
    how = {"episodes": 300, "seeds": [5, 3, 8], "folder": folder / "kept", "progress": False}
    return makers, how


def kill(folder):
    """Compare, and leave the results behind."""
    makers, how = struck(folder)
    with cluster_and_executor() as (_, executor):
        results = st.compare(makers, MDP, executor=executor, **how)
    (folder / "results").write_bytes(pickle.dumps(results))


def close(folder):
    """Close the cluster when two runs have ended, of four; the others would go on for ever.

    Prints what is said then, and what is said of a later try.
    """
    how = {"episodes": 20, "folder": folder / "kept", "progress": False}
    with cluster_and_executor() as (cluster, executor):
        submit, submitted = executor.submit, []

        def close_after_two():
            wait(submitted[:2])
            cluster.close()

        closing = threading.Thread(target=close_after_two)

        def watched(*job):
            submitted.append(submit(*job))
            if len(submitted) == 2:
                closing.start()
            return submitted[-1]

        executor.submit = watched
        for makers, seeds in (
            ({"UCBVI": st.UCBVI, "Endless": Endless}, [0, 1]),
            ({"UCBVI": st.UCBVI}, [2, 3]),
        ):
            try:
                st.compare(makers, MDP, seeds=seeds, executor=executor, **how)
            except RuntimeError as error:
                print(error)
            closing.join()


if __name__ == "__main__":
    {"kill": kill, "close": close}[sys.argv[1]](Path(sys.argv[2]))
