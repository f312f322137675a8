"""Comparisons on a cluster of two worker processes, in a Python of its own.

Whoever imports distributed has errors that are pickled in another way; so no test imports it.  As
a script it is told what to do and in which folder.
"""

import json
import logging
import os
import pickle
import re
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
PRINTED = {"UCBVI": st.UCBVI, "SUCBVI": partial(st.SUCBVI, bonus_scale=0.01)}
HOW_TO = Path(__file__).parents[3] / "book" / "how-to" / "run-and-keep-an-experiment.ipynb"


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


def printed(address, **found):
    """Run the how-to's code as it is printed, but for its address and sizes; what it has found."""
    cells = json.loads(HOW_TO.read_text("utf-8"))["cells"]
    text = "".join(line for cell in cells for line in [*cell["source"], "\n"])
    (code,) = re.findall(r"^```python\n(from distributed.*?)^```", text, re.MULTILINE | re.DOTALL)
    for there, here in (
        ('"scheduler:8786"', repr(address)),
        ("2_000, range(1_000)", "20, range(3)"),
    ):
        assert code.count(there) == 1, f"the page no longer says {there}"
        code = code.replace(there, here)
    exec(code, found)
    return found["results"]


def kill(folder):
    """Compare, then do what the how-to prints, and leave the results behind."""
    makers, how = struck(folder)
    os.chdir(folder)
    with cluster_and_executor() as (cluster, executor):
        results = st.compare(makers, MDP, executor=executor, **how)
        page = printed(cluster.scheduler_address, st=st, mdp=MDP, learners=PRINTED)
    (folder / "found").write_bytes(pickle.dumps((results, page)))


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
