# The commands of everyday work; each is a script in tools/. Set up, configured and built is only what is not yet.
.DEFAULT_GOAL := help
.PHONY: help demo build test bench bench-peers format

help:
	@echo "make demo    build, then compute a tsunami and write it with and without tailrace (about a minute)"
	@echo "make build   install what is missing, build into build/release, put the Python package into .venv"
	@echo "make test    build, then run all tests"
	@echo "make bench   build, then run the benchmarks"
	@echo "make bench-peers   build, then run tailrace beside its peers, installed for a while (ARGS=--help says more)"
	@echo "make format  lay out the C and C++ sources"
	@echo "The first run installs Debian packages (with sudo if need be), HDF5 into .deps and a Python into .venv."

build:
	@tools/build.sh

demo: build
	@.venv/bin/tailrace demo

test:
	@tools/test.sh

bench: build
	@bench/run.sh

bench-peers: build
	@tools/bench_peers.sh $(ARGS)

format:
	@tools/format.sh
