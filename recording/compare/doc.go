// Package compare finds what became slower or larger between runs: of their profiles, and of their samples.
//
// [Compare] takes the runs of two sides, the base and the new one, and matches what they have in common: functions, call sites, phases,
// pairs of ranks, variables. A quantity has a number from each run, so that several runs on a side show how much runs vary.
// [Comparison.Findings] says what changed most. The package prints nothing.
package compare
