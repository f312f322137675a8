"""Worlds in PRISM's language, or built by Storm: what the model checkers' benchmarks are.

Taught in *Bring a world*.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from safeteach.arguments import instance, number, one_of, shown, whole
from safeteach.exchange.imported import LARGEST_REWARD, Arrows, ImportedMDP, imported
from safeteach.extras import extra

with extra("storm"):
    import stormpy

__all__ = ["from_prism"]


def from_prism(
    model: Any,
    unsafe: str,
    H: int,
    tau: float = 0.5,
    reward: str | None = None,
    constants: Mapping[str, Any] | None = None,
) -> ImportedMDP:
    """A world from a model in PRISM's language, or from one that Storm has built.

    Parameters
    ----------
    model : path or stormpy model
        A PRISM file with an MDP or a DTMC; or a sparse one of stormpy, with floats.  It has one
        initial state.
    unsafe : str
        The label of the states that cost 1; the others cost 0.
    H : int
        Number of steps.
    tau : float
        Threshold of the cost, in [0, 1).
    reward : str, optional
        The name of the reward structure that pays, of states, of actions or of both; without it
        nothing does.
    constants : dict, optional
        Values of the constants that a PRISM file leaves open, by name.

    Returns
    -------
    ImportedMDP
        Its states are Storm's by number, and called by their variables where Storm knows them.
        Actions are called by the labels of commands if in every state each choice has one of its
        own, and by their number among the choices if not.  A state that has fewer than others
        has copies of its first; ``copied`` says which.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import safeteach as st
    >>> text = '''mdp
    ... const int N;
    ... module walk
    ...   x : [0..N];
    ...   [step] x<N -> (x'=1);
    ...   [run]  x<N -> 0.9:(x'=x+1) + 0.1:(x'=min(x+2,N));
    ...   [fall] x=N -> true;
    ... endmodule
    ... label "stairs" = x=N;
    ... rewards "pace" [run] true : 2; endrewards'''
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "walk.nm")
    ...     _ = file.write_text(text)
    ...     world = st.from_prism(file, "stairs", H=4, reward="pace", constants={"N": 3})
    >>> world, world.state_name(3)
    (ImportedMDP(S=4, A=3, H=4, tau=0.5, s1=0, 1 unsafe state, stationary), 'x=3')
    >>> plan = st.safe_optimal(world)
    >>> float(world.outside(plan.value))          # run, step, step; the last step can do no harm
    4.0
    """
    H = whole(H, "H")
    number(tau, "tau", 0, 1, "[)", rule="in [0, 1) what is unsafe, whose cost is 1, is unsafe")
    built = _built(model, constants)
    S, matrix = built.nr_states, built.transition_matrix
    one_of(unsafe, "unsafe", tuple(sorted(built.labeling.get_labels())))
    starts = list(built.initial_states)
    if len(starts) != 1:
        raise ValueError(f"model has {len(starts)} initial states; expected one")

    begin = [matrix.get_row_group_start(s) for s in range(S)]
    choices = [range(i, matrix.get_row_group_end(s)) for s, i in enumerate(begin)]
    pay = _rewards(built, reward)
    called = _labels(built, choices)
    actions = [*dict.fromkeys(called)]
    number_of = {name: a for a, name in enumerate(actions)}
    rows = [
        (s, number_of[called[i]], int(e.column), float(e.value), pay(s, i))
        for s in range(S)
        for i in choices[s]
        for e in matrix.get_row(i)
    ]
    costs = np.zeros(S)
    costs[list(built.labeling.get_states(unsafe))] = 1.0
    sizes = S, len(actions)
    states = _state_names(built)
    return imported(Arrows.of(rows), sizes, costs, tau, H, starts[0], range(S), states, actions)


def _built(model: Any, constants: Mapping[str, Any] | None) -> Any:
    """The model as Storm's sparse one."""
    if isinstance(model, str | os.PathLike):
        return _checked(_build(os.fspath(model), constants))
    built = _checked(model)
    if constants is not None:
        raise ValueError(
            f"constants are {shown(constants)}; expected None, because model is built already"
        )
    return built


def _build(path: str, constants: Mapping[str, Any] | None) -> Any:
    instance(constants, "constants", Mapping | None, "a dict of numbers by name, or None")
    given = dict(constants or {})
    if not Path(path).is_file():  # Storm would say so, and write to stderr too
        raise ValueError(f"model is {path!r}, which is no file; expected a PRISM file")
    try:
        program = stormpy.parse_prism_program(path)
        if given:
            program, _ = stormpy.instantiate_constants(program, given)
        return stormpy.build_model(program, options=stormpy.BuilderOptions(build_full=True))
    except Exception as error:  # Storm's are RuntimeErrors, StormErrors and TypeErrors
        with_constants = f" with constants {shown(given)}" if given else ""
        raise ValueError(
            f"model is {path!r}{with_constants}; expected what Storm can read and build ({error})"
        ) from None


def _checked(model: Any) -> Any:
    kind = getattr(getattr(model, "model_type", None), "name", None)
    if kind not in ("MDP", "DTMC") or not model.is_sparse_model:
        raise TypeError(
            f"model is {shown(model if kind is None else kind)}; expected the path of a PRISM "
            f"file, or a sparse MDP or DTMC of stormpy"
        )
    if model.is_exact or model.has_parameters:
        raise TypeError("model has exact or parametric probabilities; expected floats")
    return model


def _rewards(model: Any, name: str | None) -> Callable[[int, int], float]:
    """What choice i of state s pays: in the state, and for the choice."""
    if name is None:
        return lambda s, i: 0.0  # noqa: ARG005
    found = model.reward_models.get(one_of(name, "reward", tuple(sorted(model.reward_models))))
    if found.has_transition_rewards:
        raise ValueError(f"reward {name} is of transitions; expected one of states and actions")
    of_state = found.state_rewards if found.has_state_rewards else None
    of_choice = found.state_action_rewards if found.has_state_action_rewards else None

    def pay(s: int, i: int) -> float:
        paid = (of_state[s] if of_state else 0.0) + (of_choice[i] if of_choice else 0.0)
        return float(number(paid, f"reward {name} of state {s}", -LARGEST_REWARD, LARGEST_REWARD))

    return pay


def _labels(model: Any, choices: Sequence[range]) -> list[str]:
    """What each choice is called."""
    numbers = [str(i - there[0]) for there in choices for i in there]
    if not model.has_choice_labeling():
        return numbers
    labels = [model.choice_labeling.get_labels_of_choice(i) for i in range(model.nr_choices)]
    if any(len(label) != 1 for label in labels):
        return numbers
    called = [min(label) for label in labels]
    alone = all(len({called[i] for i in there}) == len(there) for there in choices)
    return called if alone else numbers


def _state_names(model: Any) -> list[str]:
    """What each state is called."""
    numbers = [str(s) for s in range(model.nr_states)]
    if not model.has_state_valuations():
        return numbers
    said = [json.loads(str(model.state_valuations.to_json(s))) for s in range(model.nr_states)]
    names = [", ".join(f"{x}={json.dumps(value)}" for x, value in one.items()) for one in said]
    return names if len({*names}) == len(names) else numbers
