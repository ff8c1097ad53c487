#!/bin/sh
# Builds the agent for the MPI of a compiler wrapper: build.sh MPICC OUT.so [MORE.c …]
# TEST_TOOL=NAME adds a tool that MORE defines to the table of tools.
# MPITX_GEN is a built generator (agent/gen); without it, Go runs the generator. WRAPPERS is a generated wrappers.c.
# KEEP=DIR keeps the objects and wrappers.c. OBJECTS=DIR has the objects of such a build without MORE, which are taken from there.
# The wrapper compiles, for its mpi.h; the plain compiler links, as the wrapper would link to its libmpi.
set -eu
mpicc=$1 out=$2
shift 2
here=$(cd "$(dirname "$0")" && pwd)
binding=$here/../binding
work=${KEEP:-$(mktemp -d)}
[ -n "${KEEP:-}" ] || trap 'rm -rf "$work"' EXIT
mkdir -p "$work"

if [ -n "${OBJECTS:-}" ]; then
	:
elif [ -n "${WRAPPERS:-}" ]; then
	cp "$WRAPPERS" "$work/wrappers.c"
elif [ -n "${MPITX_GEN:-}" ]; then
	# shellcheck disable=SC2086 # MPICC may contain options
	"$MPITX_GEN" -table "$here/prototypes.txt" -o "$work/wrappers.c" $mpicc
else
	# shellcheck disable=SC2086
	(cd "$here" && go run ./gen -table prototypes.txt -o "$work/wrappers.c" $mpicc)
fi

set -- "$binding/probe.c" "$binding/clone.c" "$binding/procstat.c" "$binding/shim/shim.c" "$@"
for layer in base mpi chain run node pvar tools tools/algorithms tools/event tools/objects tools/paths tools/processor tools/profile tools/tally tools/sample tools/trace tools/trigger tools/where tools/window life; do set -- "$here/$layer"/*.c "$@"; done

# -O1 for the wrappers: -O2 takes half as long again and gains nothing. Their frame pointers tell chain/cfi.c the caller's.
# Aligned: else files that are linked before them decide where their instructions lie in cache lines, which costs up to a tenth.
flags="-std=gnu11 -O2 -fPIC -fvisibility=hidden -fexceptions -fno-semantic-interposition -Wall -Wextra -Wno-deprecated-declarations -I$here -I$here/.. ${TEST_TOOL:+-DAGENT_TEST_TOOL=$TEST_TOOL}"
# compile OBJECT FLAG… SOURCE
compile() {
	object=$1
	shift
	if [ -e "${OBJECTS:-}/$object" ] && ! { [ "$object" = life_tools.o ] && [ -n "${TEST_TOOL:-}" ]; }; then
		cp "$OBJECTS/$object" "$work/$object"
		return
	fi
	# shellcheck disable=SC2086
	$mpicc $flags "$@" ${CFLAGS:-} -c -o "$work/$object"
}
compile chain_wrappers.o -O1 -falign-functions=64 -fno-omit-frame-pointer "$work/wrappers.c" &
for source; do compile "$(basename "$(dirname "$source")")_$(basename "$source" .c).o" "$source"; done
wait $!
${CC:-cc} -shared -Wl,-z,now -Wl,-z,defs -Wl,-soname,"$(basename "$out")" -o "$out.$$" "$work"/*.o -ldl -lpthread
if ! sh "$here/check.sh" "$out.$$"; then
	rm -f "$out.$$"
	exit 1
fi
mv -f "$out.$$" "$out"
