// Package selftest holds the tests of the preloaded agent. They are apart from its C sources because Go takes C files beside Go
// files for parts of a package.
package selftest
