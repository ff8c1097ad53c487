# `make run` and `make test` install what is missing, build, and go. The work is done by scripts/setup.sh.
.PHONY: help build run test bench generate lint cross install clean
.DEFAULT_GOAL := help

PREFIX ?= /usr/local
SETUP  := ./scripts/setup.sh

help:
	@echo 'make run       set up, build, and show `mpirun -n 4 mpitx list`   (YES=1: install without asking)'
	@echo 'make test      set up, build, and run all tests'
	@echo 'make build     bin/mpitx and a shim for every MPI found (mpicc, mpicc.openmpi, mpicc.mpich, $$MPICC)'
	@echo 'make bench     benchmarks: both sides of every comparison, with the ratio'
	@echo 'make generate  generated files: completions, man pages, tables'
	@echo 'make lint      gofmt, go vet, and staticcheck and shellcheck where installed'
	@echo 'make cross     build for systems without MPI: macOS, Windows, Linux on ARM'
	@echo 'make install   PREFIX=$(PREFIX) DESTDIR='
	@echo 'make clean     remove bin/'

build run test bench generate lint cross:
	@$(SETUP) $@

install:
	@PREFIX='$(PREFIX)' DESTDIR='$(DESTDIR)' $(SETUP) install

clean:
	@rm -rf bin
