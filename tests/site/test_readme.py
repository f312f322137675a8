"""What the README shows runs, one block after another."""

import re

from built import ROOT

BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_the_code_of_the_readme_runs():
    namespace = {}
    blocks = BLOCK.findall((ROOT / "README.md").read_text("utf-8"))
    assert len(blocks) == 2
    for block in blocks:
        exec(compile(block, "README.md", "exec"), namespace)
    plan, mdp, history = (namespace[name] for name in ("plan", "mdp", "history"))
    assert namespace["st"].evaluate(mdp, plan.policy).unsafe_probability == 0
    assert history.regret[-1_000:].mean() < 0.05 * plan.value, "it has learned"
    assert history.violation[-1_000:].sum() < 1, "and it is safe"
    assert namespace["st"].safe_optimal(namespace["large"]).value == plan.value
