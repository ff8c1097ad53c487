package timeline

import (
	"maps"
	"testing"
)

// A function keeps its letter, whatever is shown, and no two functions have the same one.
func TestLettersStay(t *testing.T) {
	u := sit(t, story(t), Options{}, utf8, 100, 30)
	u.types(":at 45ms")
	u.press("v", "+", "+", "+", "+") // a send takes the most of this time, a wait of all
	u.sees(" S Send", " W Wait")
	seen := map[rune]int32{}
	for function, letter := range u.m.letters {
		if other, twice := seen[letter]; twice {
			t.Errorf("%s and %s are both %c", u.m.frame.Functions[function], u.m.frame.Functions[other], letter)
		}
		seen[letter] = function
	}
	before := maps.Clone(u.m.letters)
	for _, k := range []string{"0", "+", "]", "]", "c", "down", "c", "0", "z"} {
		u.press(k)
		for function, letter := range before {
			if u.m.letters[function] != letter {
				t.Errorf("after %s, %s is %c, not %c", k, u.m.frame.Functions[function], u.m.letters[function], letter)
			}
		}
	}
}
