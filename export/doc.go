// Package export writes catalogs and the results of commands in every output format: tables for people; JSON, NDJSON, CSV and
// bare names for programs. It is pure Go, asks the terminal only for its size, and escapes all text from MPI libraries before
// it reaches a terminal.
package export
