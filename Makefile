# make crawl URL=https://example.org/    sets up and crawls; without URL: a small example site, served on loopback
# make test                              sets up and runs everything that CI runs
SHELL := /bin/bash
VENV := .venv
BIN := $(VENV)/bin

.PHONY: help setup crawl check test bench wheel clean

help:
	@echo 'make crawl URL=https://example.org/   set up and crawl (ARGS="-u 100 --max-depth 2" adds options)'
	@echo 'make crawl                            the same with the small example site that is shipped'
	@echo 'make check                            ruff and mypy'
	@echo 'make test                             everything: ruff, mypy, pytest'
	@echo 'make bench                            measure, beside others (RUNS="A D" chooses; SCALE=1: full size)'
	@echo 'make wheel                            build the wheel into dist/'
	@echo 'make clean                            remove what was built and set up'

setup:
	@tools/setup run

# URL comes from the environment, not from the text of the recipe: an address may hold & and ;
crawl: setup
	@set -f; if [ -n "$$URL" ]; then $(BIN)/gossamer crawl $(ARGS) $$URL; \
	else $(BIN)/python -m gossamer.example $(BIN)/gossamer crawl -o example-crawl $(ARGS) {}; fi; \
	status=$$?; echo '(The programs are in $(BIN):  export PATH="$$PWD/$(BIN):$$PATH")' >&2; exit $$status

check:
	@tools/setup test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/mypy bench tools

test: check
	$(BIN)/pytest

bench:
	@tools/setup test
	$(BIN)/python bench/run.py --install --write docs/benchmarks.md $(if $(SCALE),--scale $(SCALE)) $(RUNS)

wheel:
	@tools/setup test
	$(BIN)/python -m build --wheel

clean:
	rm -rf $(VENV) dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis
