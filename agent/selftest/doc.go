// Package selftest contains the tests of the preloaded agent. They are separate from its C sources because Go treats C files next to Go
// files as parts of a package.
package selftest
