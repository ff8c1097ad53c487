#!/bin/sh
# walks.sh: how many functions and files of mpitx the front of a list, the start of a record and a report enter. What `mpitx version`
# enters, too, is left out: it is what every command does to find out which it is. MPI processes are not counted. "start" is a record
# until the first rank is recorded; "record" is all of it, with the reading of the run at its end.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cp -r bin "$dir/bin"
go build -tags walks -cover -covermode=atomic -coverpkg=mpitx/... -o "$dir/bin/mpitx" ./cmd/mpitx
mpitx=$dir/bin/mpitx

# entered NAME COMMAND…: the functions that the first process of the command enters, as FILE FUNCTION
entered() {
    name=$1
    shift
    mkdir -p "$dir/$name/first"
    GOCOVERDIR=$dir/$name timeout 60 "$@" >"$dir/$name.out" 2>&1 || { cat "$dir/$name.out"; exit 1; }
    first=$(find "$dir/$name" -name "covcounters.*" | sort -t. -k3n | head -n 1)
    cp "$dir/$name"/covmeta.* "$first" "$dir/$name/first/"
    functions "$name"
}

# functions NAME: what its first process entered
functions() {
    name=$1
    go tool covdata func -i="$dir/$name/first" | awk '$NF != "0.0%" && $1 != "total" {sub(/:.*/, "", $1); print $1, $2}' | sort >"$dir/$name.txt"
}

entered version "$mpitx" version
entered list "$mpitx" list
mkdir -p "$dir/start/first"
MPITX_WALKS=$dir/start/first entered record "$mpitx" record --pvar 'mpitx:*' --dir "$dir/run" -n 2 -- "$dir/bin/mpitx-workload-openmpi" pingpong 2 &
until ls "$dir/run/"*.mpxm >/dev/null 2>&1; do sleep 0.1; done
kill -PWR "$(pgrep -o -f "^$mpitx record")"
wait
functions start
entered report "$mpitx" report "$dir/run"
printf '%-8s%10s%8s  %s\n' walk functions files 'of these in cmd, launch, inspect, machine'
for name in list start record report; do
    comm -23 "$dir/$name.txt" "$dir/version.txt" >"$dir/own"
    grep -E '^mpitx/(cmd|launch|inspect|machine)/' "$dir/own" >"$dir/near" || true
    count() { cut -d' ' -f1 "$1" | sort -u | wc -l; }
    printf '%-8s%10d%8d  %d in %d\n' "$name" "$(wc -l <"$dir/own")" "$(count "$dir/own")" "$(wc -l <"$dir/near")" "$(count "$dir/near")"
done
