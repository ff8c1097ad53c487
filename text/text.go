// Package text is the words that all of mpitx shares: amounts with units, plurals, lists of ranks, words of the shell, globs, names that are
// near another one, and foreign text made safe for terminals. It imports nothing of mpitx. All functions are safe for concurrent use.
package text
