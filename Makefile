# `make run` and `make test` install what is missing, build, and go. The work is done by scripts/setup.sh.
.PHONY: help build run test race fuzz bench generate screenshots lint cross lab lab-test install clean
.DEFAULT_GOAL := help

PREFIX ?= /usr/local
LIBS   ?= mq,o5,m42,o6,m50,abi-o6,abi-m50
SETUP  := ./scripts/setup.sh

help:
	@echo 'make run         set up, build, and show `mpirun -n 4 mpitx list`   (YES=1: install without asking)'
	@echo 'make test        set up, build, and run all tests'
	@echo 'make build       bin/mpitx and a shim for every MPI found (mpicc, mpicc.openmpi, mpicc.mpich, $$MPICC)'
	@echo 'make bench       benchmarks: both sides of every comparison, with the ratio'
	@echo 'make generate    generated files: completions, man pages, tables'
	@echo 'make screenshots the pictures of the README, from a real terminal (needs tmux and Open MPI)'
	@echo 'make race        the tests of the packages that need no MPI, with the race detector'
	@echo 'make fuzz        every fuzz target for FUZZTIME=30s each'
	@echo 'make lint        gofmt, go vet, staticcheck, shellcheck'
	@echo 'make cross       build for other systems: macOS, Windows, Linux on ARM (there the agent, too)'
	@echo 'make lab         LIBS=$(LIBS): richer MPI libraries, outside the checkout (docs/lab.md)'
	@echo 'make lab-test    end-to-end tests on every library of the lab'
	@echo 'make install     PREFIX=$(PREFIX) DESTDIR='
	@echo 'make clean       remove bin/'

build run test race fuzz bench generate screenshots lint cross lab-test:
	@$(SETUP) $@

lab:
	@$(SETUP) lab '$(LIBS)'

install:
	@PREFIX='$(PREFIX)' DESTDIR='$(DESTDIR)' $(SETUP) install

clean:
	@rm -rf bin
