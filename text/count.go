package text

import "strconv"

// Plural is a noun for a number of things: "rank", "ranks". The plural of all nouns that mpitx counts is regular.
func Plural[N ~int | ~int64 | ~uint64](n N, noun string) string {
	switch last := len(noun) - 1; {
	case n == 1:
		return noun
	case last > 0 && noun[last] == 'y' && noun[last-1] != 'a' && noun[last-1] != 'e' && noun[last-1] != 'o':
		return noun[:last] + "ies"
	}
	return noun + "s"
}

// Count is a number with its noun: "1 rank", "4 ranks".
func Count[N ~int | ~int64 | ~uint64](n N, noun string) string {
	return strconv.FormatInt(int64(n), 10) + " " + Plural(n, noun)
}

// Verb is the form of a verb for a number of subjects: one for 1, many for more.
func Verb(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
