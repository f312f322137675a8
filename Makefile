# Everything that can be done with this repository. `make` alone lists it.
# Needs Python 3.11 or newer, make and git; all else is fetched, pinned, into .venv and .vendor.

PYTHON ?= python3
BIN := .venv/bin
HTML := _build/html/index.html

# The .venv's tools and kernel come first, and nobody's own IPython profile changes an output.
export PATH := $(CURDIR)/$(BIN):$(PATH)
export JUPYTER_PREFER_ENV_PATH := 1
export IPYTHONDIR := $(CURDIR)/.venv/ipython
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# What is compiled or checked once is kept with the environment, not among the sources.
export NUMBA_CACHE_DIR := $(CURDIR)/.venv/numba
export MYPY_CACHE_DIR := $(CURDIR)/.venv/mypy

.DEFAULT_GOAL := help
.PHONY: help book student instructor test thorough oldest check lab serve notebooks contents picture figure1 sweep lower-bounds stopping duels field bench browser lock clean

help:  ## list these targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

book: .venv/.stamp .vendor/.stamp  ## execute the notebooks and build the HTML
	@jupyter-book build . -W -n --keep-going
	@echo "The book: file://$(CURDIR)/$(HTML)   (or: make serve)"

student: book  ## the book for a course: notebooks, pages and library without any solution
	@python book/_tools/editions.py student

instructor: book  ## the same for who teaches it, with solutions and rubrics
	@python book/_tools/editions.py instructor

test: .venv/.stamp .vendor/.stamp  ## every check: lint, types, unit tests, build, nbval, pages
	@python book/_tools/stages.py all

thorough: .venv/.stamp .vendor/.stamp  ## the same with the tests that take long, and make oldest
	@python book/_tools/stages.py thorough
	@$(MAKE) --no-print-directory oldest

oldest: .venv-oldest/.stamp  ## test the library with the oldest versions that pyproject.toml allows
	@NUMBA_CACHE_DIR=.venv-oldest/numba PATH="$(CURDIR)/.venv-oldest/bin:$$PATH" \
	    python -m pytest -q -n 2 -m "not slow and not thorough" tests/core safeteach

check: .venv/.stamp  ## the quick checks: lint, types, unit tests
	@python book/_tools/stages.py quick

lab: .venv/.stamp  ## open the book in JupyterLab
	@jupyter lab --ServerApp.root_dir=. --LabApp.default_url=/lab/tree/book \
	    $(if $(filter 0,$(shell id -u)),--allow-root)

serve: book  ## serve the built book on http://127.0.0.1:8000
	@echo "The book: http://127.0.0.1:8000   (Ctrl-C stops)"
	@python -m http.server --bind 127.0.0.1 --directory _build/html 8000

notebooks: contents  ## execute every notebook and store it in its normal form
	@python book/_tools/notebooks.py

contents: .venv/.stamp  ## derive heads, titles and numbers anew, and print how long each chapter is
	@python book/_tools/deriving.py
	@python book/_tools/contents.py

picture: .venv/.stamp  ## draw the README's picture anew
	@python book/_tools/picture.py

figure1: .venv/.stamp  ## rerun both halves of Figure 1 that two chapters show, about a minute
	@python book/studies/studies.py figure1 reward-free

sweep: .venv/.stamp  ## rerun the sweeps over exploration bonuses that two chapters show, a few minutes
	@python book/studies/studies.py bonus tuning

lower-bounds: .venv/.stamp  ## rerun the learners in the worlds of the lower bounds, a few minutes
	@python book/studies/studies.py lower-bounds

stopping: .venv/.stamp  ## rerun exploration to its end in a world of three states, a few minutes
	@python book/studies/studies.py stopping

duels: .venv/.stamp  ## rerun two learners of games against four adversaries, a few minutes
	@python book/studies/studies.py duels

field: .venv/.stamp  ## rerun two learners on a field with 324 states, a few minutes
	@python book/studies/studies.py field-tuning field field-growth

bench: .venv/.stamp  ## print how fast the library is
	@python tests/benchmarks/bench.py

browser: .venv/.stamp  ## say which browser the page tests will use, and install one if there is none
	@python book/_tools/browser.py

lock:  ## pin anew, in requirements.txt, what pyproject.toml asks for
	@rm -rf _build/lock && $(PYTHON) -m venv _build/lock
	@echo "Resolving pyproject.toml in a fresh environment"
	@_build/lock/bin/pip install -qq '.[all]'
	@{ echo "# Made by make lock from pyproject.toml: all that builds and tests the book, pinned."; \
	   _build/lock/bin/pip freeze --all --exclude pip --exclude safeteach; } > requirements.txt
	@rm -rf _build/lock build
	@echo "requirements.txt: $$(grep -c == requirements.txt) packages"

clean:  ## remove what was built; .venv and .vendor stay
	@rm -rf _build .pytest_cache .ruff_cache .hypothesis

# A new lock means a new environment; a new pyproject.toml only a new installation of the library.
.venv/.locked: requirements.txt
	@$(PYTHON) -c 'import sys; v = sys.version.split()[0]; sys.version_info >= (3, 11) or sys.exit( \
	    f"Python 3.11 or newer is needed, this is {v}. Say for example: make book PYTHON=python3.12")'
	@echo "Setting up .venv: $$(grep -c == $<) pinned packages, a few minutes"
	@rm -rf .venv && $(PYTHON) -m venv .venv
	@$(BIN)/pip install -qq -r $<
	@# A kernel warns that it talks in plain text, though only to this machine; that is no news.
	@mkdir -p .venv/etc/ipython
	@echo 'c.IPKernelApp.log_level = 40' > .venv/etc/ipython/ipython_kernel_config.py
	@# Nor does JupyterLab ask about news and look for a newer self: the lock says which it is.
	@mkdir -p .venv/share/jupyter/lab/settings
	@echo '{"@jupyterlab/apputils-extension:notification":' \
	    '{"fetchNews": "false", "checkForUpdates": false}}' \
	    > .venv/share/jupyter/lab/settings/overrides.json
	@touch $@

.venv/.stamp: .venv/.locked pyproject.toml
	@$(BIN)/pip install -qq --no-deps --no-build-isolation -e .
	@touch $@

.venv-oldest/.stamp: tests/oldest.txt pyproject.toml
	@echo "Setting up .venv-oldest: $$(grep -c == $<) packages, a minute or two"
	@rm -rf .venv-oldest && $(PYTHON) -m venv .venv-oldest
	@.venv-oldest/bin/pip install -qq -r $<
	@.venv-oldest/bin/pip install -qq --no-build-isolation -c $< -e '.[fast,figures,games,widgets,gym,storm]'
	@touch $@

.vendor/.stamp: book/_tools/vendor.py | .venv/.stamp
	@$(BIN)/python book/_tools/vendor.py
	@touch $@
