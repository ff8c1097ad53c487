package runs

import (
	"bytes"
	"strings"
	"testing"

	"mpitx/catalog"
	"mpitx/export"
	"mpitx/recording/profile"
	"mpitx/settings"
	"mpitx/tune/advice"
	"mpitx/tune/campaign"
)

// Advice is the same in all formats: what was seen, what to try and what is there now, when it is wrong, and what to do next.
func TestAdvice(t *testing.T) {
	c, err := catalog.Load("../../fixtures/snapshots/openmpi-4.1.4.json")
	if err != nil {
		t.Fatal(err)
	}
	p := &profile.Profile{Ranks: []*profile.Rank{{Number: 0}, {Number: 1}, {Number: 2}, {Number: 3}}}
	rule := func(name string) *advice.Rule {
		return &advice.Rule{Name: name, Wrong: "messages are short", Source: "a book"}
	}
	try := func(set ...settings.NameValue) campaign.Candidate {
		last := set[len(set)-1]
		return campaign.Candidate{Name: last.Name + "=" + last.Value, Set: set}
	}
	a := Advice{Subject: &advice.Subject{Profile: p, Catalog: c}, Run: "run1", Program: []string{"./app", "big input"}, Proposals: []advice.Proposal{
		{Rule: rule("eager limit"), Share: 0.25, Text: "30 % of the messages are long", Left: []string{"other: the library has no such variable"},
			Try: []campaign.Candidate{try(settings.NameValue{Name: "btl_vader_eager_limit", Value: "16384"}), try(settings.NameValue{Name: "btl_vader_eager_limit", Value: "65536"})}},
		{Rule: rule("collective algorithm"), Subject: "MPI_Allreduce", Share: 0.1, Text: "MPI_Allreduce took 10 % of the time",
			Try: []campaign.Candidate{try(settings.NameValue{Name: "coll_tuned_use_dynamic_rules", Value: "true"}, settings.NameValue{Name: "coll_tuned_allreduce_algorithm", Value: "ring"})}},
		{Rule: rule("algorithm that says the same"), Subject: "MPI_Allreduce", Share: 0.1, Text: "MPI_Allreduce took 10 % of the time",
			Try: []campaign.Candidate{try(settings.NameValue{Name: "coll_tuned_allreduce_algorithm", Value: "linear"})}},
		{Rule: rule("transports on a node"), Share: 0.999, Text: "the ranks of one node reach each other over TCP",
			Try: []campaign.Candidate{try(settings.NameValue{Name: "btl", Value: ""}), try(settings.NameValue{Name: "btl", Value: "self,vader,tcp"})}},
		{Rule: rule("late ranks"), Share: 0.1, Text: "Rank 3 comes late", Look: "mpitx report RUN arrivals"},
		{Rule: rule("all candidates are of another one"), Share: 0.1, Text: "nothing"},
	}}
	for name, f := range map[string]export.Format{"advice": export.FormatTable, "advice_wide": export.FormatWide, "advice_json": export.FormatJSON, "advice_csv": export.FormatCSV} {
		var b bytes.Buffer
		if err := a.Write(&b, f, tty); err != nil {
			t.Fatal(err)
		}
		golden(t, name, b.Bytes())
	}
	var b bytes.Buffer
	a.Proposals, a.Program = a.Proposals[5:], nil
	if a.Write(&b, export.FormatTable, tty); b.String() != "No rule has advice for this run.\n" {
		t.Errorf("%q", b.String())
	}
	if got := a.next(&advice.Proposal{Rule: rule("eager limit"), Try: []campaign.Candidate{{}}}); !strings.HasSuffix(got, "--only 'eager limit' -n 4 -- ./app …") {
		t.Errorf("%q", got)
	}
}
