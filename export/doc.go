// Package export writes catalogs, and the answers of commands, in every output format: tables for people, JSON, NDJSON,
// CSV and bare names for programs. It is pure Go, asks the terminal nothing but its size, and makes every text that
// comes from an MPI library safe before it reaches a terminal.
package export
