#!/bin/sh
# Checks a built agent: check.sh AGENT.so. It must export only MPI functions (and functions of PERUSE, and agenttest_X for benchmarks) and not be linked to an
# MPI library. Each exported function must be a stub that jumps: at most 16 bytes, aligned to 16, with one function that records for
# each. Processors without stubs have functions that record directly. Text relocations are an error, as preloaded libraries have none.
set -eu
command -v readelf >/dev/null || { echo "check.sh: $1: not checked: readelf is missing; install binutils" >&2; exit 0; }
LC_ALL=C readelf -Whds "$1" | awk -v agent="$1" '
	function wrong(what) { print "check.sh: " agent ": " what > "/dev/stderr"; bad = 1; exit 1 }
	/^ *Machine: .*(X86-64|AArch64)/ { stubs = 1 }
	/\(NEEDED\).*libmpi/ { wrong("is linked to an MPI library: " $NF) }
	/\(TEXTREL\)/ { wrong("has text relocations") }
	/^Symbol table/ { dynamic = /\.dynsym/ }
	$1 !~ /^[0-9]+:$/ { next }
	dynamic && $8 ~ /^agenttest_/ { next }
	dynamic && $4 == "FUNC" && $8 ~ /^PERUSE_Event_/ { next } # agent/tools/event/application.c
	dynamic && $5 != "LOCAL" && $7 != "UND" {
		if ($4 != "FUNC" || $8 !~ /^P?MPIX?_/) wrong("exports " $8)
		if (stubs && ($3 + 0 == 0 || $3 + 0 > 16 || $2 !~ /0$/)) wrong($8 " is not a stub that jumps")
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
