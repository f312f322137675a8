"""Cases for the subclasses of TriedAnswers: one for each answer."""


def pytest_generate_tests(metafunc):
    for fixture, answers in (("right_answer", "right"), ("wrong_answer", "wrong")):
        if fixture in metafunc.fixturenames:
            tried = getattr(metafunc.cls, answers).items()
            cases = [(number, one) for number, several in tried for one in several]
            metafunc.parametrize(fixture, cases)
