#!/bin/sh
# Builds the agent for the MPI of one compiler wrapper: build.sh MPICC OUT.so [MORE.c …]
# TEST_TOOL=NAME puts a tool that MORE defines into the table.
# MPITX_GEN names a built generator (agent/gen); else Go runs it; WRAPPERS names what one has written already.
# KEEP=DIR keeps objects and wrappers.c there.
# Compiled with the wrapper, for its mpi.h; linked with the plain compiler, as the wrapper would link it to its libmpi.
set -eu
mpicc=$1 out=$2
shift 2
here=$(cd "$(dirname "$0")" && pwd)
binding=$here/../binding
work=${KEEP:-$(mktemp -d)}
[ -n "${KEEP:-}" ] || trap 'rm -rf "$work"' EXIT
mkdir -p "$work"

if [ -n "${WRAPPERS:-}" ]; then
	cp "$WRAPPERS" "$work/wrappers.c"
elif [ -n "${MPITX_GEN:-}" ]; then
	# shellcheck disable=SC2086 # MPICC may hold options
	"$MPITX_GEN" -table "$here/prototypes.txt" -o "$work/wrappers.c" $mpicc
else
	# shellcheck disable=SC2086
	(cd "$here" && go run ./gen -table prototypes.txt -o "$work/wrappers.c" $mpicc)
fi

set -- "$binding/probe.c" "$binding/clone.c" "$binding/procstat.c" "$binding/shim/shim.c" "$@"
for layer in base mpi chain run pvar tools tools/tally tools/sample life; do set -- "$here/$layer"/*.c "$@"; done

# Full optimisation of the wrappers takes half as long again and gains nothing.
flags="-std=gnu11 -O2 -fPIC -fvisibility=hidden -fexceptions -fno-semantic-interposition -Wall -Wextra -I$here -I$here/.. ${TEST_TOOL:+-DAGENT_TEST_TOOL=$TEST_TOOL}"
# shellcheck disable=SC2086
$mpicc $flags -O1 -Wno-deprecated-declarations ${CFLAGS:-} -c "$work/wrappers.c" -o "$work/chain_wrappers.o" &
for source; do
	layer=$(basename "$(dirname "$source")")
	# shellcheck disable=SC2086
	$mpicc $flags ${CFLAGS:-} -c "$source" -o "$work/${layer}_$(basename "$source" .c).o"
done
wait $!
${CC:-cc} -shared -Wl,-z,now -Wl,-z,defs -Wl,-soname,"$(basename "$out")" -o "$out.$$" "$work"/*.o -ldl -lpthread
if ! sh "$here/check.sh" "$out.$$"; then
	rm -f "$out.$$"
	exit 1
fi
mv -f "$out.$$" "$out"
