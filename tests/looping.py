"""One test over many values: a statement about all of them counts as one test, not as hundreds."""

import functools
import inspect
import os


def many(some, all_of_them):
    """How many random examples a test tries: some in `make test`, and all in `make thorough`."""
    return all_of_them if os.environ.get("SAFETEACH_THOROUGH") else some


def each(names, values):
    """Run a test for every value in turn; a failure says for which.

    Like ``pytest.mark.parametrize`` with one case: for values that are cheap and alike, such as
    seeds.  `names` is one name, or several if every value is a tuple.
    """
    several = not isinstance(names, str)

    def decorate(test):
        signature = inspect.signature(test)
        taken = set(names) if several else {names}
        assert taken <= set(signature.parameters)

        @functools.wraps(test)
        def run(*args, **others):
            tried = 0
            for value in values:
                given = dict(zip(names, value, strict=True)) if several else {names: value}
                try:
                    test(*args, **others, **given)
                except BaseException as error:
                    error.add_note(", ".join(f"{name} = {x!r}" for name, x in given.items()))
                    raise
                tried += 1
            assert tried, "there is nothing to try"

        # What is left is for pytest to hand in.
        left = [p for name, p in signature.parameters.items() if name not in taken]
        run.__signature__ = signature.replace(parameters=left)
        return run

    return decorate
