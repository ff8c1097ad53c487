#!/bin/sh
# Benchmarks, run by `make bench` after a build. Each measures both sides of its comparison in one run and prints the ratio.
# BENCH=REGEXP selects some. Packages run one at a time, as parallel ones would disturb each other.
set -eu
cd "$(dirname "$0")/.."
exec go test -p 1 -run '^$' -bench "${BENCH:-.}" -benchmem -timeout 20m ./...
