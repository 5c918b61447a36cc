.PHONY: help demo test bench check install model clean

help:  ## what can be made
	@sed -n 's/^\([a-z]*\):.*  ## /  make \1\t/p' Makefile

demo:  ## install what is missing, prepare the small model once, run examples/quickstart.py
	@scripts/install
	@scripts/prepare-model
	@scripts/demo $(ARGS)

test:  ## lint, format, types, layers and all tests
	@scripts/install dev
	@scripts/install-raif-vllm
	@scripts/prepare-model
	@scripts/check
	@scripts/test $(ARGS)

bench:  ## all benchmarks, one after the other; results in .benchmarks (ARGS="tokens streaming" for some)
	@scripts/install dev
	@scripts/prepare-model
	@scripts/bench $(ARGS)

check:  ## lint, format, types and layers only
	@scripts/install dev
	@scripts/check

install:  ## the development environment in .venv
	@scripts/install dev

model:  ## the small model in the user's cache directory
	@scripts/install
	@scripts/prepare-model

clean:  ## remove .venv, caches and builds
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .benchmarks dist
