"""The model checker Storm as an oracle: the least risk of meeting an unsafe state in k steps."""

from __future__ import annotations

import numpy as np
import stormpy
from stormpy.datastructures import SparseMatrixBuilder
from stormpy.logic import parse_properties
from stormpy.models import SparseMdp, SparseModelComponents, StateLabeling

from safeteach import SafeMDP


def storm_model(mdp: SafeMDP) -> SparseMdp:
    """A stationary world as Storm's own object."""
    rows = mdp.rows(1)
    pairs = mdp.S * mdp.A
    builder = SparseMatrixBuilder(
        rows=pairs, columns=mdp.S, entries=len(rows.successors),
        has_custom_row_grouping=True, row_groups=mdp.S,
    )
    builder.add_next_values(
        np.repeat(np.arange(pairs), np.diff(rows.indptr)).tolist(), rows.successors.tolist(),
        rows.probability.tolist(), list(range(0, pairs, mdp.A)),
    )
    labels = StateLabeling(mdp.S)
    for label in ("unsafe", "init"):
        labels.add_label(label)
    labels.add_label_to_state("init", mdp.s1)
    for s in np.flatnonzero(mdp.unsafe).tolist():
        labels.add_label_to_state("unsafe", s)
    return SparseMdp(
        SparseModelComponents(transition_matrix=builder.build(), state_labeling=labels)
    )


def minimal_risk(model: SparseMdp, k: int) -> np.ndarray:
    """(S,) Pmin=? [F<=k "unsafe"], the least probability of danger within k steps."""
    formula = parse_properties(f'Pmin=? [F<={k} "unsafe"]')[0]
    return np.array(stormpy.model_checking(model, formula).get_value_vector())


def unfold(mdp: SafeMDP) -> SafeMDP:
    """A step-dependent world as a stationary one: state (h-1)*S + s is s at step h."""
    H, S, A = mdp.H, mdp.S, mdp.A
    P = np.zeros((H, S, A, H, S))
    for i in range(H - 1):
        P[i, :, :, i + 1] = mdp.P[i]
    P[-1, :, :, -1] = np.eye(S)[:, None]
    return SafeMDP(P.reshape(H * S, A, H * S), np.zeros((H * S, A)), np.tile(mdp.c, H), mdp.tau, H)
