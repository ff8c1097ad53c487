package tuning

import (
	"slices"
	"strconv"
	"strings"
)

// openMPINumber is the number that Open MPI reads from a text (int_from_string in opal/mca/base/mca_base_var.c): digits, and one letter for a
// factor of 1024. It drops the rest without a word. whole is false if that changes what the text means: "8192,16384", "1T".
func openMPINumber(s string) (number string, whole bool) {
	s = strings.TrimSpace(s)
	digits := strings.TrimLeft(s, "+-")
	end := len(s) - len(strings.TrimLeft(digits, "0123456789"))
	if hex := strings.ToLower(digits); strings.HasPrefix(hex, "0x") {
		end = len(s) - len(strings.TrimLeft(hex[2:], "0123456789abcdef"))
	}
	n, err := strconv.ParseInt(s[:end], 0, 64)
	if err != nil {
		return "", false
	}
	unit := strings.ToLower(s[end:])
	if unit != "" {
		n <<= 10 * (1 + strings.IndexByte("kmg", unit[0]))
	}
	return strconv.FormatInt(n, 10), unit == "" || slices.Contains([]string{"", "b", "i", "ib"}, unit[1:]) && strings.IndexByte("kmg", unit[0]) >= 0
}

// startsWithDigit reports whether a text begins as a number does.
func startsWithDigit(s string) bool {
	s = strings.TrimLeft(s, " +-")
	return s != "" && '0' <= s[0] && s[0] <= '9'
}
