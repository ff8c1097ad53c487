package campaigns

import (
	"strings"
	"testing"
	"time"

	"mpitx/export"
	"mpitx/machine"
	"mpitx/settings"
	"mpitx/tune"
	"mpitx/tune/campaign"
)

// answer makes a campaign of candidates with one setting each, and returns its answer. failed says why a run of an arm failed; it may be called for each run.
func answer(t *testing.T, runs int, times []float64, failed func(campaign.Experiment) string) *Answer {
	s := &tune.Session{Ranks: 2, App: []string{"./app", "in put", "-x"}, Family: machine.OpenMPI, Plan: campaign.Plan{Seed: 1, Limits: campaign.Limits{Runs: runs}, Usual: time.Second}}
	for _, name := range []string{"a", "b", "c"}[:len(times)] {
		s.Plan.Candidates = append(s.Plan.Candidates, campaign.Candidate{Name: name + "=1,2", Set: []settings.NameValue{{Name: name, Value: "1,2"}, {Name: "needed", Value: "x y"}}, Group: name})
	}
	r, err := campaign.Run(s.Plan, func(e campaign.Experiment, _ *campaign.Candidate) (campaign.Outcome, error) {
		o := campaign.Outcome{Took: time.Second, Time: 1234567890 + time.Duration(e.Number)}
		if e.Arm > 0 {
			o.Time = time.Duration(float64(o.Time) * times[e.Arm-1])
		}
		if o.Failed = failed(e); o.Failed != "" {
			o.Time = 0
		}
		return o, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return &Answer{Session: s, Dir: "dir", File: "dir/settings.conf", Result: r}
}

func written(t *testing.T, a *Answer, f export.Format) string {
	var b strings.Builder
	if err := a.Write(&b, f, export.Terminal{UTF8: true}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func never(campaign.Experiment) string { return "" }

// A report says what failed, and nothing of percent without pairs.
func TestFailed(t *testing.T) {
	a := answer(t, 20, []float64{1, 1, 1}, func(e campaign.Experiment) string {
		if e.Arm > 0 {
			return "exit status 3: crash: dying"
		}
		return ""
	})
	said := written(t, a, export.FormatTable)
	if strings.Count(said, "failed: exit status 3: crash: dying") != 3 || strings.Contains(said, "%") || !strings.Contains(said, "Nothing is recommended: what was to be compared with the program as it is failed.") {
		t.Error(said)
	}
	a = answer(t, 20, []float64{1, 1, 1}, func(e campaign.Experiment) string {
		if e.Arm == 1 && e.Round > 0 {
			return "crash: dying"
		}
		return ""
	})
	said = written(t, a, export.FormatTable)
	if !strings.Contains(said, "failed in 1 of 2 runs: crash: dying") || !strings.Contains(said, "compared in 8 new pairs") || !strings.Contains(said, "not tried: the budget is enough for 2 of 3") {
		t.Error(said)
	}
}

// A report calls a slower candidate slower, and a faster one with what a run needs to have it.
func TestChanges(t *testing.T) {
	for _, c := range []struct {
		time  float64
		wants string
	}{
		{8, "Nothing is recommended: the best candidate, a=1,2, makes the program slower (+700.0 % to +700.0 %; 8 new pairs)."},
		{1, "Nothing is recommended: the best candidate, a=1,2, makes the program at most 1 % faster (-0.0 % to +0.0 %; 8 new pairs)."},
		{0.5, "For a run: mpitx run -n 2 --settings dir/settings.conf -- ./app 'in put' -x\n"},
	} {
		a := answer(t, 16, []float64{c.time}, never)
		if said := written(t, a, export.FormatTable); !strings.Contains(said, c.wants) {
			t.Errorf("%v: %s", c.time, said)
		}
	}
}

// CSV has numbers and words, JSON the settings as values.
func TestForPrograms(t *testing.T) {
	a := answer(t, 16, []float64{1}, never)
	lines := strings.Split(written(t, a, export.FormatCSV), "\n")
	if !strings.Contains(lines[0], ",time_ns,") || !strings.Contains(lines[1], `"a=1,2",8,12345678`) || !strings.Contains(lines[1], `,"a=1,2 'needed=x y'",`) {
		t.Errorf("%q", lines)
	}
	if said := written(t, a, export.FormatNDJSON); !strings.Contains(said, `"time_ns":12345678`) || !strings.Contains(said, `"set":[{"Name":"a","Value":"1,2"},{"Name":"needed","Value":"x y"}]`) {
		t.Error(said)
	}
}
