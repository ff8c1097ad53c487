package tuning

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mpitx/catalog"
)

var update = flag.Bool("update", false, "rewrite the golden file")

// libraries are the snapshots of all releases.
var libraries = []string{"openmpi-4.1.4", "openmpi-5.0.7", "openmpi-6.0.0rc2", "mpich-4.0.2", "mpich-4.2.1", "mpich-5.0.2"}

// conditional are the sentences that look as if they state a condition of their variable.
var conditional = regexp.MustCompile(`(?i)\b(?:only|ignored|invalid|no effect|used|valid|effective)\b.*\b(?:if|when|unless|with|on)\b` +
	`|\bonly (?:valid|effective|has meaning|meaningful)|\bmutually exclusive\b|\bunless\b|[a-z]_\w+ is (?:set|true|false)\b`)

var sentenceEnd = regexp.MustCompile(`([.;!]) +|[()]`)

// The golden file has the sentences that are understood, with the conditions of one variable, and those that look like conditions and
// are not understood. Read the second part if a library words its descriptions in a new way.
func TestClauses(t *testing.T) {
	understood, other := map[string]string{}, map[string]string{}
	for _, library := range libraries {
		c, err := catalog.Load("../../fixtures/snapshots/" + library + ".json")
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range c.Cvars {
			text := strings.Join(strings.Fields(v.Description), " ")
			for k, sentence := range strings.Split(sentenceEnd.ReplaceAllString(text, "$1\n"), "\n") {
				sentence = strings.TrimSpace(sentence)
				v.Description = sentence
				if k > 0 { // "If NAME is true," counts at the start only
					v.Description = "- " + sentence
				}
				switch needs := said(c, &v); {
				case needs != nil:
					understood[sentence] = library + " " + v.Name + ": " + needsText(needs)
				case conditional.MatchString(sentence):
					other[sentence] = library + " " + v.Name
				}
			}
		}
	}
	var got strings.Builder
	write := func(title string, all map[string]string) {
		got.WriteString(title + "\n")
		for _, sentence := range slices.Sorted(maps.Keys(all)) {
			fmt.Fprintf(&got, "%s\n\t%s\n", sentence, all[sentence])
		}
	}
	write("# Understood", understood)
	maps.DeleteFunc(other, func(sentence, _ string) bool { return understood[sentence] != "" })
	write("# Not understood", other)
	const golden = "testdata/clauses.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("-want +got (go test -update rewrites %s):\n%s", golden, diff)
	}
}

// Each name in the list of essentials is one that some release has; the builds of the snapshots have no hcoll.
func TestEssentialNames(t *testing.T) {
	var all []*catalog.Catalog
	for _, library := range libraries {
		c, err := catalog.Load("../../fixtures/snapshots/" + library + ".json")
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	for _, p := range Own().purposes {
		for _, e := range p.Essentials {
			for k, name := range e.names {
				if !strings.Contains(e.Use, "hcoll") && !slices.ContainsFunc(all, func(c *catalog.Catalog) bool {
					return c.Library.Family == p.Family && slices.ContainsFunc(c.Cvars, func(v catalog.Variable) bool { return name.MatchName(v.Name) })
				}) {
					t.Errorf("%s: no release has name %d of %q", p.Title, k+1, e.Use)
				}
			}
		}
	}
}

func needsText(needs []need) string {
	var out []string
	for _, n := range needs {
		out = append(out, fmt.Sprintf("%s %s %q", strings.Join(n.names, " or "), n.op, n.value))
	}
	return strings.Join(out, "; ")
}
