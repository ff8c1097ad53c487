// Package runs writes what runs have recorded, in every format: reports, samples, traces, queues, triggers, and what changed between
// runs.
package runs
