package catalog

import (
	"flag"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the table of docs/events.md")

// raises says which columns of the table are libraries with all events of sections 4.3.1 and 4.4. The tests of the lab ask them.
var raises = []struct {
	library string
	all     bool
}{{"Open MPI 4.1.4 (Debian)", false}, {"`op`", true}, {"Open MPI 6, `o6`", false}, {"MPICH 4.0.2 (Debian)", false}, {"`ch4`", false}}

// The table of docs/events.md is what WithPeruse says.
func TestPeruseDocument(t *testing.T) {
	const file, head = "../docs/events.md", "| event | section |"
	columns := make([]map[string]Support, len(raises))
	table := strings.Builder{}
	table.WriteString(head)
	for i, of := range raises {
		table.WriteString(" " + of.library + " |")
		c := &Catalog{After: Stage{Read: true}}
		for _, e := range PeruseEvents() {
			if of.all && strings.HasPrefix(e.Section, "4.") {
				c.Events = append(c.Events, NativePeruseEvent(e.Name, "communicator"))
			}
		}
		columns[i] = map[string]Support{}
		for _, e := range c.WithPeruse().Events {
			columns[i][e.Name] = e.Support
		}
	}
	table.WriteString("\n|" + strings.Repeat("---|", 2+len(raises)) + "\n")
	for _, e := range PeruseEvents() {
		table.WriteString("| `" + e.Name + "` | " + e.Section + " |")
		for _, column := range columns {
			table.WriteString(" " + string(column[e.Name]) + " |")
		}
		table.WriteString("\n")
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), head)
	if *update {
		_, after, _ := strings.Cut(rest, "\n\n")
		if !found {
			after = ""
		}
		if err := os.WriteFile(file, []byte(before+table.String()+"\n"+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got, _, _ := strings.Cut(head+rest, "\n\n"); got+"\n" != table.String() {
		t.Errorf("the table of %s is not up to date: go test ./catalog -run TestPeruseDocument -update", file)
	}
}
