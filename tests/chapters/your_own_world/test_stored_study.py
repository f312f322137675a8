"""What the book stores of its field is what the library makes today."""

import json

import field
import numpy as np
import pytest
import storing

import safeteach as st

STUDIES = field.studies()
AGAIN = "run `make field`"
PREFIX = 2_000  # episodes, of a run that is made again in part


def load(name):
    with np.load(STUDIES[name].file) as file:
        return dict(file), json.loads(str(file["about"]))


@pytest.mark.parametrize("name", STUDIES)
def test_it_was_made_by_this_code_and_says_how(name):
    file, about = load(name)
    code = storing.code_digest(field.__file__)
    assert about["code"] == code, f"the code of the study has changed: {AGAIN}"
    assert about == json.loads(json.dumps(STUDIES[name].about())), AGAIN
    names = field.LEARNERS if name == "field-growth" else STUDIES[name].learners
    assert file["names"].tolist() == list(names)


@pytest.mark.parametrize("name", ["field", "field-tuning"])
def test_curves_are_sums_over_all_episodes(name):
    (file, about), study = load(name), STUDIES[name]
    shape = len(study.learners), len(study.seeds)
    assert file["episodes"][0] == 0 and file["episodes"][-1] == study.episodes
    assert file["seeds"].tolist() == list(study.seeds)
    for what in ("reward", "violation", "regret"):
        assert file[what].shape == (*shape, len(file["episodes"]))
        assert (file[what][:, :, 0] == 0).all()
    assert (np.diff(file["reward"]) >= 0).all() and (np.diff(file["violation"]) >= 0).all()
    assert file["digests"].shape == file["last"].shape == shape
    assert (file["last"] <= about["optima"]["unconstrained"] + 1e-9).all()
    assert len(np.unique(file["digests"])) == file["digests"].size


def late(file, what, study):
    """Of each learner and seed, per episode over the second half of the run."""
    half = file["episodes"].tolist().index(study.episodes // 2)
    return 2 * (file[what][:, :, -1] - file[what][:, :, half]) / study.episodes


def test_the_factors_are_those_that_the_rule_chooses():
    """The largest whose reward is nearly the most, by the reward alone."""
    file, _ = load("field-tuning")
    reward = late(file, "reward", STUDIES["field-tuning"]).mean(axis=1)
    for name, chosen in field.TUNED.items():
        by_factor = {
            scale: reward[file["names"].tolist().index(f"{name} {scale:g}")]
            for scale in field.SCALES
        }
        most = max(by_factor.values())
        assert max(s for s, earned in by_factor.items() if earned >= most - 0.05) == chosen
    assert not set(STUDIES["field"].seeds) & set(STUDIES["field-tuning"].seeds)


def test_what_the_chapter_says_of_it():
    """One stops violating, the other never does, and each earns what its own optimum does."""
    file, about = load("field")
    study, optima = STUDIES["field"], about["optima"]
    reward, violation = (late(file, what, study) for what in ("reward", "violation"))
    assert optima["safe"] + 0.5 < optima["unconstrained"]
    assert (np.abs(reward[0] - optima["safe"]) < 0.1).all()
    assert (np.abs(reward[1] - optima["unconstrained"]) < 0.1).all()
    assert (violation[1] > 100 * violation[0]).all()
    early = file["violation"][0, :, file["episodes"].tolist().index(500)]
    assert (early > 500).all(), "it could violate, and did"


@pytest.mark.parametrize(
    ("name", "seed"), [("SUCBVI", 3), pytest.param("UCBVI", 5, marks=pytest.mark.slow)]
)
def test_the_beginning_of_a_run_made_again_is_that_of_the_stored_one(name, seed):
    """The bits of an episode hang on the episodes before it; and K, on which bonuses hang."""
    file, _ = load("field")
    study = STUDIES["field"]
    learner = study.learner(name)
    reward, violation = [], []
    for k, episode in st.play(learner, study.mdp, seed, study.noise):
        reward.append(episode.rewards.sum())
        violation.append(study.mdp.violation[episode.states[:-1]].sum())
        if k + 1 == PREFIX:
            break
    place = list(study.learners).index(name), list(study.seeds).index(seed)
    ends = file["episodes"][file["episodes"] <= PREFIX]
    for what, made in (("reward", reward), ("violation", violation)):
        curve = storing.so_far(np.array([made]), ends)[0]
        assert np.array_equal(curve, file[what][place][: len(ends)])


@pytest.mark.thorough
@pytest.mark.parametrize("name", field.LEARNERS)
def test_a_run_made_again_is_the_stored_one(name):
    file, _ = load("field")
    study = STUDIES["field"]
    history = st.run(study.learner(name), study.mdp, 7, study.noise)
    place = list(study.learners).index(name), 7
    assert storing.digest(history) == file["digests"][place], AGAIN


@pytest.mark.parametrize("name", field.LEARNERS)
def test_a_timed_run_made_again_has_seen_the_same(name):
    file, _ = load("field-growth")
    mdp = field.field_of(12)
    learner = field.learner_of(name, mdp)
    digest = storing.digest(st.run(learner, mdp))
    place = list(field.LEARNERS).index(name), field.SIDES.index(12)
    assert digest == file["digests"][place], AGAIN
    assert learner.transitions.length.sum() == file["seen"][place]


def test_what_an_episode_costs_follows_what_was_seen():
    file, _ = load("field-growth")
    assert file["dense"].tolist() == [(7 * side // 5) * side**4 * 4 for side in field.SIDES]
    assert (np.diff(file["seen"]) > 0).all() and (file["seconds"] > 0).all()
    assert (file["seen"] < file["dense"]).all()
    each = file["seconds"] / file["seen"]
    assert each.max() < 10 * each.min()


def test_what_the_lab_notes_say_of_it():
    notes = (storing.ROOT / "book/appendix/lab-notes.md").read_text("utf-8")
    said = " ".join(notes.partition("(lab-field)=")[2].split())
    file, about = load("field-tuning")
    reward = late(file, "reward", STUDIES["field-tuning"]).mean(axis=1)
    earned = dict(zip(file["names"].tolist(), reward, strict=True))
    optima, field_of_it = about["optima"], STUDIES["field"].mdp
    both = [f"{earned[f'{name} 0.001']:.2f}" for name in field.LEARNERS]
    assert f"With 0.001 the learners earn {both[0]} and {both[1]}, with 0.01 less than 0.05" in said
    assert max(earned[f"{name} 0.01"] for name in field.LEARNERS) < 0.05
    assert f"{field_of_it.unsafe.sum()} obstacles" in said
    assert f"earns {optima['safe']:g}, the best of all {optima['unconstrained']:g}." in said
    assert f"both with `bonus_scale` {field.TUNED['SUCBVI']:.4f}." in said
    assert field.TUNED["SUCBVI"] == field.TUNED["UCBVI"]
    assert ", ".join(map(str, field.SIDES[:-1])) + f" and {field.SIDES[-1]} cells" in said
