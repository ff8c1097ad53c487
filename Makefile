# `make run` and `make test` install missing packages, build, and run. scripts/setup.sh does the work.
.PHONY: help build run test race fuzz bench generate screenshots lint cross walks lab lab-test install clean
.DEFAULT_GOAL := help

PREFIX ?= /usr/local
LIBS   ?= mq,ch4,op,op-debug,o5,m42,o6,m50,abi-o6,abi-m50
SETUP  := ./scripts/setup.sh

help:
	@echo 'make run         install packages, build, and run `mpirun -n 4 mpitx list`   (YES=1: do not ask)'
	@echo 'make test        install packages, build, and run all tests'
	@echo 'make build       build bin/mpitx and a shim for every MPI found (mpicc, mpicc.openmpi, mpicc.mpich, $$MPICC)'
	@echo 'make bench       run benchmarks, which compare two sides and print the ratio'
	@echo 'make generate    generate completions, man pages and tables'
	@echo 'make screenshots draw the pictures of the README from a real terminal (needs tmux and Open MPI)'
	@echo 'make race        test the packages that start goroutines with the race detector'
	@echo 'make fuzz        run every fuzz target for FUZZTIME=30s'
	@echo 'make lint        run gofmt, go vet, staticcheck and shellcheck'
	@echo 'make walks       count the functions and files that a list, a record and a report enter'
	@echo 'make cross       build for macOS, Windows and Linux on ARM (with the agent)'
	@echo 'make lab         LIBS=$(LIBS): build richer MPI libraries outside the checkout (docs/lab.md)'
	@echo 'make lab-test    run the end-to-end tests on every library of the lab'
	@echo 'make install     PREFIX=$(PREFIX) DESTDIR=: install'
	@echo 'make clean       remove bin/'

build run test race fuzz bench generate screenshots lint cross walks lab-test:
	@$(SETUP) $@

lab:
	@$(SETUP) lab '$(LIBS)'

install:
	@PREFIX='$(PREFIX)' DESTDIR='$(DESTDIR)' $(SETUP) install

clean:
	@rm -rf bin
