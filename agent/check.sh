#!/bin/sh
# Checks a built agent: check.sh AGENT.so. It exports MPI functions and nothing else (agenttest_X are of benchmarks); it has them from
# no library; each jumps to the way of its calls (a stub is at most 16 bytes, begins a line of 16, and there is one for each function
# that records); its threads' data are where preloaded libraries have theirs. Functions of processors without stubs record by themselves.
set -eu
command -v readelf >/dev/null || { echo "check.sh: $1: not checked: readelf is not installed" >&2; exit 0; }
LC_ALL=C readelf -Whds "$1" | awk -v agent="$1" '
	function wrong(what) { print "check.sh: " agent ": " what > "/dev/stderr"; bad = 1; exit 1 }
	/^ *Machine: .*(X86-64|AArch64)/ { stubs = 1 }
	/\(NEEDED\).*libmpi/ { wrong("is linked to an MPI library: " $NF) }
	/\(TEXTREL\)/ { wrong("has text relocations") }
	/^Symbol table/ { dynamic = /\.dynsym/ }
	$1 !~ /^[0-9]+:$/ { next }
	dynamic && $8 ~ /^agenttest_/ { next }
	dynamic && $5 != "LOCAL" && $7 != "UND" {
		if ($4 != "FUNC" || $8 !~ /^P?MPIX?_/) wrong("exports " $8)
		if (stubs && ($3 + 0 == 0 || $3 + 0 > 16 || $2 !~ /0$/)) wrong($8 " does not jump")
		exported[$8] = 1
		count++
	}
	!dynamic && $4 == "FUNC" && $8 ~ /^record_P?MPIX?_/ { records[substr($8, 8)] = 1 }
	END {
		if (bad) exit 1
		for (name in records) if (!(name in exported)) wrong(name " is not exported")
		for (name in exported) if (stubs && !(name in records)) wrong(name " records nothing")
		if (count == 0) wrong("exports no MPI functions")
	}'
