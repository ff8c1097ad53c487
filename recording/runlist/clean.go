package runlist

import (
	"os"
	"strings"
	"time"

	"mpitx/recording"
)

// Rule says which runs are removed: those that have ended, are older than Older and are not among the Keep newest.
type Rule struct {
	Older time.Duration // 0: of any age
	Keep  int           // newest runs, also those that have not ended, that are kept; 0: none
	Dry   bool          // remove nothing
}

// Cleaned is what became of a run that the rule chose.
type Cleaned struct {
	*Run
	Removed bool   // or would be
	Failed  bool   // it could not be removed
	Why     string // why it was kept
}

// Clean removes runs of a list, the newest of which is first. It never removes a run whose processes may run, and no directory with
// files that mpitx did not write. The memory files of dead processes on this machine go with their run.
func Clean(all []*Run, rule Rule, now time.Time) (out []Cleaned) {
	for i, r := range all {
		if r.State.Goes() || i < rule.Keep || rule.Older > 0 && now.Sub(r.Start) < rule.Older {
			continue
		}
		c := Cleaned{Run: r, Why: keeps(r)}
		if c.Why == "" && !rule.Dry {
			c.Why, c.Failed = remove(r)
		}
		c.Removed = c.Why == ""
		out = append(out, c)
	}
	return out
}

// keeps says why a run is not removed.
func keeps(r *Run) string {
	if len(r.Foreign) > 0 {
		const most = 3
		names := strings.Join(r.Foreign[:min(len(r.Foreign), most)], ", ")
		if len(r.Foreign) > most {
			names += ", …"
		}
		return "it has files that mpitx did not write: " + names
	}
	return ""
}

// remove looks at a run once more, and removes it. It says why not.
func remove(r *Run) (why string, failed bool) {
	st, err := os.Lstat(r.Dir)
	if err != nil {
		return cause(err), true
	}
	p, is := placeOf(r.Dir)
	if !is || !st.IsDir() {
		return "it is not a run directory any more", false
	}
	now := describe(p)
	if now.State.Goes() {
		return "its job runs", false
	}
	if why := keeps(now); why != "" {
		return why, false
	}
	if err := recording.Discard(r.Dir); err != nil {
		return cause(err), true
	}
	return "", false
}
