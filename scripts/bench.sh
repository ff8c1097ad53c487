#!/bin/sh
# Benchmarks (called by `make bench`, which has built everything). Each measures both sides of its comparison in one run and
# prints the ratio. BENCH=REGEXP chooses some. One package after the other: side by side they would measure each other.
set -eu
cd "$(dirname "$0")/.."
exec go test -p 1 -run '^$' -bench "${BENCH:-.}" -benchmem -timeout 20m ./...
