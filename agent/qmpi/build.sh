#!/bin/sh
# Builds the library of the QMPI draft's symbols, which needs no MPI: build.sh OUT.so [OPTION…]
set -eu
out=$1
shift
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sed 's/.*/X(&)/' "$here/functions.txt" >"$work/functions.inc"
${CC:-cc} -std=gnu11 -O2 -fPIC -fvisibility=hidden -fno-semantic-interposition -Wall -Wextra -I"$here/.." -I"$work" "$@" -shared -Wl,-z,now -Wl,-z,defs \
	-Wl,-soname,libmpitx-qmpi.so -o "$out.$$" "$here/qmpi.c" -lpthread
mv -f "$out.$$" "$out"
