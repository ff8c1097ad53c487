//go:build cgo && linux

package installed

import (
	"regexp"
	"slices"
	"testing"

	"mpitx/agent"
)

// mpitx tools lists all tools of the agent's table.
func TestBuiltinTools(t *testing.T) {
	text, err := agent.Sources.ReadFile("life/tools.c")
	if err != nil {
		t.Fatal(err)
	}
	var want, have []string
	for _, m := range regexp.MustCompile(`(?m)^    &(\w+)_tool,`).FindAllSubmatch(text, -1) {
		want = append(want, string(m[1]))
	}
	for _, b := range builtin {
		have = append(have, b.name)
	}
	slices.Sort(want)
	slices.Sort(have)
	if !slices.Equal(have, want) {
		t.Errorf("mpitx tools lists %q, the agent has %q", have, want)
	}
}
