#!/bin/sh
# Sets mpitx up and builds it: setup.sh build|run|test|race|fuzz|bench|generate|screenshots|lint|cross|lab LIBS|lab-test|install (see the Makefile).
# Only `run` and `test` install missing packages; `run` needs fewer. Only `lab` uses the network otherwise, and Go for modules that
# were never downloaded, such as staticcheck, which `lint` runs.
set -eu
cd "$(dirname "$0")/.."

VERSION=0.1.0
STATICCHECK=v0.8.2
BIN=bin
GOFLAGS="${GOFLAGS:-} -trimpath" # for builds and tests, so that they share the build cache
export GOFLAGS

# Go does not notice changes of C files outside of a package, from which the demo MPI is compiled.
CGO_CFLAGS="${CGO_CFLAGS:--O2 -g} -DFAKEMPI_SOURCES=$(cat fixtures/fakempi/*.[ch] | cksum | cut -d' ' -f1)"
export CGO_CFLAGS

say() { printf 'setup: %s\n' "$*" >&2; }
fail() { printf 'setup: %s\n' "$*" >&2; exit 1; }
have() { command -v "$1" >/dev/null 2>&1; }

# ---- Go ----

find_go() {
	have go || PATH=$PATH:/usr/local/go/bin
	needed=$(sed -n 's/^go \([0-9.]*\).*/\1/p' go.mod)
	have go || fail "Go is not installed; install Go $needed or newer from Go's download page and add its bin to PATH"
	found=$(cd / && GOTOOLCHAIN=local go env GOVERSION)
	newer_or_equal "${found#go}" "$needed" && return
	# From 1.21 on, Go fetches the release that go.mod requires, unless GOTOOLCHAIN forbids it.
	if [ "$(cd / && go env GOTOOLCHAIN)" != local ] && newer_or_equal "${found#go}" 1.21; then
		say "Go ${found#go} is too old: fetching Go $needed"
		go version >/dev/null && return
	fi
	fail "Go ${found#go} is too old; install Go $needed or newer from Go's download page, or set GOTOOLCHAIN=auto to let Go 1.21 or newer fetch it"
}

# newer_or_equal 1.26.1 1.26: succeeds if the first is not older (1.26rc1 counts as 1.26).
newer_or_equal() {
	awk -v a="$1" -v b="$2" 'BEGIN {
		sub(/(rc|beta|-).*/, "", a); split(a, x, "."); split(b, y, ".")
		for (i = 1; i <= 3; i++) if (x[i] + 0 != y[i] + 0) exit !(x[i] + 0 > y[i] + 0)
	}'
}

fetch_modules() {
	GOPROXY=off go mod download >/dev/null 2>&1 && return
	say "fetching Go modules"
	go mod download || fail "cannot fetch missing Go modules; run this with network access: go mod download"
}

# ---- packages ----

# missing_packages lists the Debian packages that are not installed.
missing_packages() {
	have cc && printf '#include <stdio.h>\n' | cc -E - >/dev/null 2>&1 || printf 'gcc libc6-dev '
	have mpirun.openmpi || printf 'openmpi-bin '
	have mpicc.openmpi || printf 'libopenmpi-dev '
	have mpirun.mpich || printf 'mpich '
	have mpicc.mpich || printf 'libmpich-dev '
	have tmux || printf 'tmux '
}

# missing_test_packages lists those for tests: MPI programs in Fortran and Python, modules of Python, NetPIPE, compilers, an emulator for ARM, Node.js for
# DuckDB.
missing_test_packages() {
	have g++ || printf 'g++ '
	have addr2line || printf 'binutils '
	have clang++ || printf 'clang '
	have llvm-addr2line || printf 'llvm '
	have dwz || printf 'dwz '
	have chromium || printf 'chromium '
	have gfortran || printf 'gfortran '
	[ -n "$(find /usr/lib/python3/dist-packages/mpi4py -name 'MPI.*.so' 2>/dev/null)" ] || printf 'python3-mpi4py '
	[ -d /usr/lib/python3/dist-packages/pandas ] || printf 'python3-pandas '
	[ -d /usr/lib/python3/dist-packages/matplotlib ] || printf 'python3-matplotlib '
	[ -d /usr/lib/python3/dist-packages/prometheus_client ] || printf 'python3-prometheus-client '
	have NPopenmpi || printf 'netpipe-openmpi '
	have NPmpich2 || printf 'netpipe-mpich2 '
	have shellcheck || printf 'shellcheck '
	have node || printf 'nodejs '
	have npm || printf 'npm '
	have ip || [ -x /usr/sbin/ip ] || printf 'iproute2 '
	have nft || [ -x /usr/sbin/nft ] || printf 'nftables '
	[ "$(uname -m)" != x86_64 ] || have aarch64-linux-gnu-gcc || printf 'gcc-aarch64-linux-gnu libc6-dev-arm64-cross '
	[ "$(uname -m)" != x86_64 ] || have qemu-aarch64 || printf 'qemu-user '
}

# install_packages installs missing packages, and those of $1 that are available.
install_packages() {
	extras=${1% }
	if ! have apt-get; then
		have mpicc || [ -n "${MPICC:-}" ] || say "no mpicc found; install an MPI with its compiler wrapper, load its module, or set MPICC"
		return 0
	fi
	packages=$(missing_packages)
	packages=${packages% }
	[ -n "$packages$extras" ] || return 0
	install='DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends'
	apt='apt-get update'
	[ -z "$packages" ] || apt="$apt && $install $packages"
	for extra in $extras; do # one by one, as some releases lack some of them
		apt="$apt; $install $extra"
	done
	packages=${packages:+$packages }$extras
	packages=${packages% }
	if [ "$(id -u)" = 0 ]; then
		apt_with ''
	elif have sudo && asked "sudo sh -c '$apt'"; then
		apt_with sudo
	else
		say "missing packages; run as root: apt-get install $packages"
	fi
}

# fetch_duckdb installs the release of DuckDB that fixtures/duckdb/package-lock.json pins, for tests, unless it is there.
fetch_duckdb() {
	duckdb_there && return
	have npm || return 0
	say "fetching DuckDB"
	(cd fixtures/duckdb && npm ci --no-audit --no-fund --ignore-scripts >/dev/null && cp package-lock.json node_modules/.pinned) || say "cannot fetch DuckDB; run this with network access: cd fixtures/duckdb && npm ci"
}

# fetch_promtool takes promtool, for tests, out of Debian's package prometheus, which would also install a server.
fetch_promtool() {
	if promtool_there || ! have apt-get || ! have dpkg-deb; then return 0; fi
	say "fetching promtool"
	mkdir -p fixtures/promtool
	(cd fixtures/promtool && apt-get download prometheus >/dev/null 2>&1 && dpkg-deb --fsys-tarfile prometheus_*.deb | tar -xO ./usr/bin/promtool >part &&
		rm prometheus_*.deb && chmod +x part && mv part promtool) || say "cannot fetch promtool; run this with network access: cd fixtures/promtool && apt-get download prometheus"
}

promtool_there() { have promtool || [ -x fixtures/promtool/promtool ]; }

duckdb_there() { cmp -s fixtures/duckdb/package-lock.json fixtures/duckdb/node_modules/.pinned; }

# asked shows a command and asks whether to run it. YES=1 answers yes; without a terminal the answer is no.
asked() {
	say "missing packages; this would install them:"
	printf '    %s\n' "$1" >&2
	[ "${YES:-}" = 1 ] && return 0
	if ! [ -t 0 ] || ! [ -t 2 ]; then
		say "not run: no terminal to ask on; set YES=1 to answer yes"
		return 1
	fi
	printf 'setup: run it? [y/N] ' >&2
	read -r answer || answer=
	case $answer in [yY]*) return 0 ;; esac
	return 1
}

apt_with() {
	say "installing $packages"
	log=$(mktemp)
	if $1 sh -c "$apt" >"$log" 2>&1; then
		rm -f "$log"
		return 0
	fi
	tail -n 5 "$log" >&2
	rm -f "$log"
	say "installing failed; continuing without the packages"
}

# ---- building ----

# build makes bin/mpitx, the shims and the agents. Concurrent builds (make -j) wait for each other.
build() {
	have cc || fail "no C compiler; install gcc or another cc"
	mkdir -p "$BIN"
	if have flock; then
		exec 9>"$BIN/.lock"
		flock 9
	fi
	build_shims
	build_qmpi
	commit=$(git rev-parse --short HEAD 2>/dev/null) || commit=
	CGO_ENABLED=1 go build -buildvcs=false -ldflags "-X mpitx/cmd/mpitx/cli.Version=$VERSION${commit:++g$commit}" -o "$BIN/mpitx" ./cmd/mpitx
	if have flock; then exec 9>&-; fi
}

build_shims() {
	made=' '
	for mpicc in ${MPICC:+"$MPICC"} mpicc mpicc.openmpi mpicc.mpich; do
		# shellcheck disable=SC2086 # MPICC may hold options
		set -- $mpicc
		have "$1" || continue
		build_shim "$mpicc" || say "$mpicc: cannot build a shim with it"
	done
	# The header is enough to build for the standard ABI.
	for header in /usr/lib/*/openmpi/include/standard_abi/mpi.h /usr/lib/*/mpich/include/mpi_abi.h; do
		[ -e "$header" ] || continue
		build_shim "cc -DMPI_ABI -I${header%/*} -Wl,--no-as-needed -l:libmpi_abi.so.1" && break
		say "$header: cannot build a shim with it"
	done
	[ "$made" != ' ' ] || say "no MPI compiler wrapper (mpicc) found: only --mpi demo will work; install an MPI or set MPICC"
}

# build_shim builds the shim for the family of a compiler wrapper, unless it is up to date.
build_shim() {
	compiler=$(command -v "${1%% *}")
	stamp=$BIN/.shim$(echo "$compiler" | tr / -)
	identity=$(ls -liLd "$compiler" && echo "$1" && cat binding/shim/*.[ch] | cksum)
	if [ "$(sed 1d "$stamp" 2>/dev/null)" = "$identity" ]; then
		family=$(sed -n 1p "$stamp")
		fresh=yes
	else
		# shim.c defines the family from this wrapper's mpi.h.
		family=$($1 -E -dM binding/shim/shim.c | sed -n 's/^#define FAMILY "\(.*\)"/\1/p')
		fresh=no
	fi
	[ -n "$family" ] || return 1
	shim=$BIN/mpitx-shim-$family.so
	case $made in
	*" $family "*) ;;
	*)
		if [ $fresh = no ] || ! [ -e "$shim" ]; then compile_shim "$1" "$shim" || return 1; fi
		build_agent "$1" "$family" || say "$1: cannot build an agent with it: mpitx sample will not work with $family"
		made="$made$family "
		;;
	esac
	printf '%s\n%s\n' "$family" "$identity" >"$stamp"
}

# build_qmpi builds the library for tools, unless it is up to date.
build_qmpi() {
	made_of=$(cat agent/qmpi/* | cksum)
	if [ -e "$BIN/libmpitx-qmpi.so" ] && [ "$(cat "$BIN/.qmpi" 2>/dev/null)" = "$made_of" ]; then return 0; fi
	sh agent/qmpi/build.sh "$BIN/libmpitx-qmpi.so" || fail "agent/qmpi cannot be built"
	printf '%s\n' "$made_of" >"$BIN/.qmpi"
}

# build_agent builds the agent and the workload of a family, unless they are up to date. Tests use its objects again.
build_agent() {
	agent=$BIN/mpitx-agent-$2.so
	workload=$BIN/mpitx-workload-$2
	made_of=$(ls -liLd "$(command -v "${1%% *}")" && echo "$1" && find agent binding/shim fixtures/workload binding/*.[ch] \( -name test -o -name selftest -o -name agenttest \) -prune -o \( -name '*.[ch]' -o -name '*.go' -o -name '*.txt' -o -name build.sh \) ! -name '*_test.go' -print | LC_ALL=C sort | xargs cat | cksum)
	if [ -e "$agent" ] && [ -e "$workload" ] && [ "$(cat "$BIN/.agent-$2" 2>/dev/null)" = "$made_of" ]; then return 0; fi
	say "$agent ($1): takes a minute"
	rm -rf "$BIN/.objects-$2"
	KEEP=${keep_objects:+$PWD/$BIN/.objects-$2} OBJECTS='' sh agent/build.sh "$1" "$agent" || return 1
	[ -z "${keep_objects:-}" ] || $1 -show >"$BIN/.objects-$2/how"
	sh fixtures/workload/build.sh "$1" "$PWD/$BIN" >/dev/null || return 1
	printf '%s\n' "$made_of" >"$BIN/.agent-$2"
}

# compile_shim links with the plain compiler, as a wrapper would link the shim to its own libmpi.
compile_shim() {
	say "$2 ($1)"
	if $1 -std=gnu11 -O2 -fPIC -Wall -Wextra -c binding/shim/shim.c -o "$2.$$.o" &&
		cc -shared -o "$2.$$" "$2.$$.o" -ldl -lpthread && mv -f "$2.$$" "$2"; then
		rm -f "$2.$$.o"
		return 0
	fi
	rm -f "$2.$$" "$2.$$.o"
	return 1
}

# ---- targets ----

# prepare installs packages, including those in $1, and finds Go.
prepare() {
	install_packages "${1:-}"
	find_go
	fetch_modules
	allow_root
}

allow_root() {
	if [ "$(id -u)" = 0 ]; then
		# Open MPI's launcher refuses root without both variables.
		OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
		export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM
	fi
}

run() {
	for launcher in mpirun mpirun.openmpi mpirun.mpich; do
		have "$launcher" || continue
		case $($launcher --version 2>&1) in
		*"Open MPI"* | *OpenRTE*)
			family=openmpi
			# Allows four processes on two cores, in every version of Open MPI.
			options='--map-by :OVERSUBSCRIBE'
			;;
		*) family=mpich options= ;;
		esac
		[ -e "$BIN/mpitx-shim-$family.so" ] || continue
		# shellcheck disable=SC2086 # options are several words or none
		show "$launcher" $options -n 4 "$BIN/mpitx" list
	done
	say "no MPI found or installed; running the built-in demo MPI"
	show "$BIN/mpitx" list --mpi demo -n 4
}

show() {
	say "$*"
	exec "$@"
}

# run_tests does not use cached results, as Go does not notice changes of bin/ and the MPIs. The packages that take longest come first.
# Most tests wait for MPI programs: more of them at once than cores. The limit ends hangs: next to busy processes, tests take an hour.
run_tests() {
	untested
	code=0
	MPITX_TEST_BIN=$PWD/$BIN go test -count=1 -parallel 4 -timeout 3h ./cmd/mpitx ./agent/test/sampler_run ./... || code=$?
	untested
	exit $code
}

# untested names the packages whose tests cannot run here, as a passing `go test` does not.
untested() {
	for package in $(missing_packages) $(missing_test_packages); do
		case $package in
		gcc | libc6-dev) ;; # nothing is built without them
		*) say "NOT TESTED: tests that need $package, which is not installed" ;;
		esac
	done
	promtool_there || say "NOT TESTED: the files of export -o openmetrics with promtool, which is not in fixtures/promtool"
	duckdb_there || say "NOT TESTED: queries of data sets, because DuckDB is not installed in fixtures/duckdb"
}

# lint_imports checks the imports against imports.txt.
lint_imports() {
	# shellcheck disable=SC2016 # the variables are go list's and awk's
	go list -f '{{$p := .ImportPath}}{{range .Imports}}{{$p}} {{.}}{{"\n"}}{{end}}' ./... | awk '
		FNR == NR { if (!/^#/) for (k = 2; k <= NF; k++) may[$1, $k] = 1; next }
		!sub(/ mpitx\//, " ") { next }
		{ sub(/^mpitx\//, "") }
		!(($1, $2) in may) { print "setup: " $1 " imports " $2 ", which scripts/imports.txt does not allow"; bad = 1 }
		END { exit bad }' scripts/imports.txt - >&2 || fail "imports violate scripts/imports.txt"
}

lint() {
	unformatted=$(gofmt -l .)
	[ -z "$unformatted" ] || fail "not formatted; run: gofmt -w $unformatted"
	go vet ./...
	go run "honnef.co/go/tools/cmd/staticcheck@$STATICCHECK" ./...
	lint_imports
	if have shellcheck; then
		shellcheck scripts/*.sh .ci/run fixtures/*.sh fixtures/lab/*.sh agent/*.sh agent/*/build.sh
	elif [ -n "${CI:-}" ]; then
		fail "shellcheck is missing; run as root: apt-get install shellcheck"
	else
		say "NOT CHECKED: scripts, because shellcheck is not installed"
	fi
}

# race runs the tests of the packages that start goroutines with the race detector.
race() {
	CGO_ENABLED=1 go test -race -count=1 -timeout 10m ./symbols ./ui/... ./inspect/... ./launch/... ./machine/keep ./cmd/mpitx/cli
}

# fuzz runs every fuzz target for FUZZTIME each. Failing inputs are kept as seeds in the package's testdata/fuzz.
fuzz() {
	grep -r --include='*_test.go' '^func Fuzz' . | sed 's/^\(.*\)\/[^/]*:func \(Fuzz[A-Za-z0-9]*\)(.*/\1 \2/' | sort | while read -r package target; do
		say "$package $target: ${FUZZTIME:-30s}"
		go test "$package" -run '^$' -fuzz "^$target\$" -fuzztime "${FUZZTIME:-30s}" -fuzzminimizetime 20x
	done
}

# cross builds the parts that work without MPI, which read snapshots and runs, for other systems.
cross() {
	for target in darwin/arm64 windows/amd64 linux/arm64; do
		say "building for $target"
		CGO_ENABLED=0 GOOS=${target%/*} GOARCH=${target#*/} go build -gcflags='all=-N -l' -o /dev/null ./cmd/mpitx # faster
	done
	# shellcheck disable=SC2046 # one word for each package
	CGO_ENABLED=0 go vet $(pure_packages)
	cross_agents
}

# cross_agents compiles and links the agents for 64-bit ARM. mpi.h does not depend on the processor.
cross_agents() {
	if ! have aarch64-linux-gnu-gcc; then
		[ -z "${CI:-}" ] || fail "aarch64-linux-gnu-gcc is missing; run as root: apt-get install gcc-aarch64-linux-gnu libc6-dev-arm64-cross"
		say "NOT COMPILED: the agent for linux/arm64, because aarch64-linux-gnu-gcc is not installed"
		return 0
	fi
	out=$(mktemp)
	CC=aarch64-linux-gnu-gcc sh agent/qmpi/build.sh "$out" -Werror || fail "agent/qmpi cannot be built for linux/arm64"
	rm -f "$out"
	flags= # one of them optimised, which takes longer
	for mpicc in mpicc.openmpi mpicc.mpich; do
		have "$mpicc" || continue
		say "building for linux/arm64: the agent ($mpicc)"
		includes=$($mpicc -show | tr ' ' '\n' | grep '^-I' | tr '\n' ' ')
		out=$(mktemp)
		CFLAGS=$flags CC=aarch64-linux-gnu-gcc sh agent/build.sh "aarch64-linux-gnu-gcc -Werror $includes" "$out" ||
			fail "the agent cannot be built for linux/arm64"
		rm -f "$out"
		flags=-O0
	done
}

pure_packages() {
	for dir in text symbols catalog recording machine settings export ui; do
		case $dir in
		machine) echo ./machine ;; # the others in it start processes
		*) echo "./$dir/..." ;;
		esac
	done
}

install_files() {
	to=${DESTDIR:-}$PREFIX
	install -d "$to/bin" "$to/lib/mpitx"
	install -m 755 "$BIN/mpitx" "$to/bin/"
	copy "$to/lib/mpitx" "$BIN"/mpitx-*.so "$BIN"/libmpitx-qmpi.so
	for program in "$BIN"/mpitx-workload-*; do
		if [ -e "$program" ]; then install -m 755 "$program" "$to/lib/mpitx/"; fi
	done
	copy "$to/include" agent/include/*
	copy "$to/share/man/man1" man/*.1
	copy "$to/share/bash-completion/completions" completions/mpitx.bash
	copy "$to/share/zsh/site-functions" completions/_mpitx
	copy "$to/share/fish/vendor_completions.d" completions/mpitx.fish
	copy "$to/share/mpitx/python" python/pyproject.toml
	copy "$to/share/mpitx/python/mpitx" python/mpitx/*
	copy "$to/share/doc/mpitx" LICENSE ./*.md
	copy "$to/share/doc/mpitx/docs" docs/*
	say "installed in $to"
}

# copy FOLDER FILE… installs the files that exist.
copy() {
	folder=$1
	shift
	for file; do
		[ -f "$file" ] || continue
		install -d "$folder"
		install -m 644 "$file" "$folder/"
	done
}

# run_lab mq,o5: LIBS, which make passes on in two ways, would be linker options to configure and make.
run_lab() {
	unset LIBS MAKEFLAGS MFLAGS MAKEOVERRIDES MAKELEVEL
	IFS=', '
	# shellcheck disable=SC2086 # several words
	exec fixtures/lab/lab.sh build $1
}

case ${1:-} in
build) find_go; build ;;
run) prepare; build; run ;;
test) prepare "$(missing_test_packages)"; fetch_duckdb; fetch_promtool; keep_objects=yes; build; run_tests ;;
bench) find_go; allow_root; build; exec ./scripts/bench.sh ;;
generate) find_go; go generate ./... ;;
screenshots) find_go; allow_root; build; go run ./fixtures/screenshots "$BIN" docs ;;
lint) find_go; lint ;;
race) find_go; race ;;
fuzz) find_go; fuzz ;;
cross) find_go; cross ;;
walks) find_go; allow_root; build; exec scripts/walks.sh ;;
lab) run_lab "${2:-}" ;;
lab-test) find_go; allow_root; build; exec fixtures/lab/lab.sh test ;;
install) find_go; build; install_files ;;
*) fail "usage: setup.sh build|run|test|race|fuzz|bench|generate|screenshots|lint|cross|walks|lab|lab-test|install" ;;
esac
