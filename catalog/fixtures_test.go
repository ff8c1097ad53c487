package catalog_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"mpitx/catalog"
)

// The snapshots of real libraries (fixtures/snapshots, made by `mpirun -n 4 mpitx snapshot --redact`) must stay readable, with the
// measured contents.
func TestRealSnapshots(t *testing.T) {
	for name, want := range map[string]struct{ cvarsBefore, cvarsAfter, pvarsAfter, faulty, enums, differing int }{
		"openmpi-4.1.4.json":    {1259, 1116, 46, 13, 39, 3},
		"mpich-4.0.2.json":      {344, 344, 0, 0, 0, 0},
		"openmpi-5.0.7.json":    {823, 753, 46, 13, 41, 2},
		"mpich-4.2.1.json":      {438, 438, 0, 0, 0, 0},
		"openmpi-6.0.0rc2.json": {903, 922, 46, 13, 50, 0},
		"mpich-5.0.2.json":      {466, 466, 0, 0, 0, 0},
	} {
		path := filepath.Join("../fixtures/snapshots", name)
		c, err := catalog.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		faulty, differing := 0, 0
		for v := range c.Variables() {
			if v.Faulty() {
				faulty++
			}
			if v.Differs() {
				differing++
			}
			for _, r := range []*catalog.Reading{v.Before, v.After} {
				if r != nil && r.Status == catalog.StatusOK && v.Type.Form() != catalog.FormText && r.Value.Len() != r.Count {
					t.Errorf("%s: %s has %d elements of %d", name, v.ID(), r.Value.Len(), r.Count)
				}
			}
		}
		got := struct{ cvarsBefore, cvarsAfter, pvarsAfter, faulty, enums, differing int }{
			c.Before.Cvars, c.After.Cvars, c.After.Pvars, faulty, len(c.Enums), differing}
		if got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
		if c.Job.Size != 4 || len(c.Job.Ranks) != 4 {
			t.Errorf("%s: job %+v", name, c.Job)
		}
		var again bytes.Buffer
		if err := catalog.Write(&again, c); err != nil {
			t.Fatal(err)
		}
		if text, err := os.ReadFile(path); err != nil || !bytes.Equal(text, again.Bytes()) {
			t.Errorf("%s: writing it again gives another text", name)
		}
	}
}
