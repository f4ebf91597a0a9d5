# The commands of everyday work; each is a script in tools/, which installs and builds only missing parts.
.DEFAULT_GOAL := help
.PHONY: help demo setup build test test-slow bench bench-check figures bench-hdf5 bench-peers texture \
  demo-openfoam fuzz soak hostile mutants sanitizers docs format wheel wheel-old hdf5-matrix

help:
	@echo "make demo    build what it needs, then compute a tsunami and write it with and without tailrace"
	@echo "make build   install missing packages, build all into build/release, put the Python package into .venv"
	@echo "make test    build, then run all tests but the slow ones"
	@echo "make test-slow   the tests that take minutes each, which make test omits: HDF5's longest ones, 500 kills"
	@echo "make bench   build, then run the benchmarks"
	@echo "make bench-check   bench, then name the ratios that became worse (QUICK=1: ten minutes; FROM=out/bench)"
	@echo "make figures put the results of docs/figures into the pages (FROM=out/bench: those of a make bench)"
	@echo "make bench-hdf5    build, then compare HDF5 programs with and without the connector (ARGS=--help: options)"
	@echo "make bench-peers   build, then compare tailrace with its peers, installed temporarily (ARGS=--help: options)"
	@echo "make texture build, then filter an image and write it by MPI-IO, with and without tailrace (ARGS=--help)"
	@echo "make demo-openfoam   build, then run an OpenFOAM case, with and without tailrace (ARGS=--help: options)"
	@echo "make fuzz    fuzz the readers of outside data for a minute (longer: tools/fuzz.sh SECONDS-PER-TARGET)"
	@echo "make soak    build, then simulate from a random seed for ten minutes (MINUTES=N: for N minutes)"
	@echo "make hostile build, then make a million hostile connections to a forwarder: 20 minutes (CONNECTIONS=N: N)"
	@echo "make mutants put known faults into a copy, one at a time; the simulator must find each"
	@echo "make sanitizers   all tests under the address, undefined-behaviour and thread sanitizers (20 minutes)"
	@echo "make hdf5-matrix   build, then test the connector with each HDF5 that can be had (ARGS=--help: options)"
	@echo "make wheel   build, then make a wheel that other machines can install, in build/wheels"
	@echo "make wheel-old   try the wheels of build/wheels, or WHEELS=FILES, on Debian 11; needs root, debootstrap"
	@echo "make docs    build, then build the documentation site into build/docs/html"
	@echo "make format  lay out the C and C++ sources"
	@echo "The first run installs Debian packages (with sudo if needed), HDF5 into .deps and a Python into .venv; after"
	@echo "make demo the others install and build what tests and benchmarks need."

setup:
	@tools/setup.sh

build:
	@tools/build.sh

demo:
	@tools/build.sh demo
	@.venv/bin/tailrace demo

test:
	@tools/test.sh

test-slow:
	@tools/test.sh slow

bench: build
	@tools/setup.sh bench
	@lab/run.sh

# FROM names results that are there already; then nothing has to be built or run.
bench-check: $(if $(FROM),,build)
	@$(if $(FROM),,tools/setup.sh bench)
	@tools/bench_check.sh $(if $(FROM),--from $(FROM)) $(if $(QUICK),--short) $(if $(ONLY),--only $(ONLY))

figures:
	@tools/figures.sh $(FROM)

bench-hdf5: build
	@tools/bench_hdf5.sh $(ARGS)

bench-peers: build
	@tools/bench_peers.sh $(ARGS)

texture: build
	@.venv/bin/python -B lab/texture/compare.py $(ARGS)

demo-openfoam: build
	@.venv/bin/python -B lab/pitz_daily/compare.py $(ARGS)

fuzz: setup
	@tools/fuzz.sh

soak:
	@tools/soak.sh $(MINUTES)

hostile: build
	@TAILRACE_TEST_HOSTILE=$(or $(CONNECTIONS),1000000) \
	  .venv/bin/python -m pytest -q -s tests/python/forward/test_forward_hostile.py

hdf5-matrix: build
	@.venv/bin/python -B tools/hdf5_matrix.py $(ARGS)

mutants: setup
	@tools/mutants.py

sanitizers: setup
	@tools/sanitizers.sh

wheel: build
	@tools/wheel.sh

wheel-old:
	@tools/check_wheel_old.sh $(or $(WHEELS),$(wildcard build/wheels/tailrace-*-cp312-abi3-*_$(shell uname -m).whl))

docs: build
	@tools/docs.sh

format: setup
	@tools/format.sh
