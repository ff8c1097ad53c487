// Package export is what all writers of output share: the formats, rows and the tables that they become, JSON documents, and what a
// terminal shows of foreign text. It asks the terminal only for its size. Below it, variables writes what libraries have, runs what
// runs have, and each format with a library of its own has a package.
package export
