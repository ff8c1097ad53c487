// Package variables writes what MPI libraries have, in every format: lists of variables, categories and events, pages about one of
// them, the differences of two libraries, what influences a library, and the results of mpitx check and mpitx verify.
package variables
