package explorer

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mpitx/catalog"
	"mpitx/export"
	"mpitx/ui/link"
	"mpitx/ui/term"
)

// staging options: early is read at the start, algorithm needs limit=8 and early=2, and all can be set for a run.
func stagingOptions() Options {
	return Options{
		Export: exporter(),
		AtStart: func(_ *catalog.Catalog, v *catalog.Variable) string {
			return map[string]string{"early": "it is read once, in MPI_Init"}[v.Name]
		},
		HowToSet: func(_ *catalog.Catalog, all []Setting) []string {
			if all[0].V.Kind != catalog.Cvars {
				return nil
			}
			line := "export"
			for _, s := range all {
				line += " " + s.V.Name + "=" + s.Value.String()
			}
			return []string{line}
		},
		Complete: func(c *catalog.Catalog, all []Setting) (out []Setting) {
			given := func(name string) bool {
				return slices.ContainsFunc(all, func(s Setting) bool { return s.V.Name == name })
			}
			for _, s := range all {
				if early := c.Cvar("early"); s.V.Name == "algorithm" && !given("early") && early != nil && early.Current().Value.String() != "2" {
					out = append(out, Setting{V: early, Value: integer(catalog.TypeInt, 2), NeededBy: []string{"algorithm"}})
				}
				out = append(out, s)
			}
			return out
		},
		Environ: func(_ *catalog.Catalog, all []Setting) (out []string) {
			for _, s := range all {
				out = append(out, s.V.Name+"="+s.Value.String())
			}
			return out
		},
	}
}

func plan(m *Model) string {
	var words []string
	for _, s := range m.staging.plan {
		words = append(words, m.settingText(&s))
	}
	return strings.Join(words, " ")
}

// A variable that is read only at the start is set for the next run; C, S and X give it, and R restarts with it.
func TestStage(t *testing.T) {
	o := stagingOptions()
	o.Term = term.Term{Terminal: export.Terminal{UTF8: true}}
	m, backends := fakeSession(t, o)
	resize(m, 120, 30)
	press(m, ":", "'show early", "enter", "e")
	contains(t, m, "it is read once, in MPI_Init", "next run  1", "Enter sets it for the next run, Esc cancels")
	press(m, "ctrl+u", "'x")
	contains(t, m, "is not a value of type int")
	press(m, "enter", "esc")
	if len(m.staging.own) > 0 || strings.Contains(onScreen(t, m), "NEXT RUN") {
		t.Fatal("esc stages")
	}
	press(m, "e", "ctrl+u", "'5", "enter")
	contains(t, m, "for the next run: early=5; C shows all, R restarts with them", ">»†  early", "next run  5", "NEXT RUN 1: R")
	if len((*backends)[0].writes) > 0 {
		t.Fatalf("written: %+v", (*backends)[0].writes)
	}
	press(m, "j", "S")
	contains(t, m, "copied export early=5")
	press(m, "C")
	contains(t, m, "my changes, for the next run", "> early  1", "5", "next run", "0:early=5")
	path := filepath.Join(t.TempDir(), "next.sh")
	press(m, "tab", "X", "ctrl+u", "'export "+path, "enter")
	if data, _ := os.ReadFile(path); string(data) != "1:early=5 \n" {
		t.Errorf("%q", data)
	}
	press(m, "esc", ":", "'export "+filepath.Join(filepath.Dir(path), "list.sh"), "enter")
	contains(t, m, "saved the environment script")

	begin(m, m.key("R", "R"))
	if got := fmt.Sprint((*backends)[1].environ); got != "[early=5]" {
		t.Fatalf("restarted with %s", got)
	}
	contains(t, m, " »†  early")
	lacks(t, m, "NEXT RUN")
	press(m, "R")
	contains(t, m, "the back end is running, with all that is set for the next run")
	press(m, "C", "u", "esc")
	contains(t, m, "NEXT RUN 0: R")
	begin(m, m.key("R", "R"))
	if got := (*backends)[2].environ; len(got) > 0 {
		t.Fatalf("restarted with %v", got)
	}
}

// What a setting needs is named before, set with it, and goes with it.
func TestStageBoth(t *testing.T) {
	m, backends := fakeSession(t, stagingOptions())
	for _, width := range []int{80, 120, 200} {
		resize(m, width, 24)
		press(m, ":", "'show algorithm", "enter", "e", "j", "enter")
		flat(t, m, "Write this on all 4 ranks?", "b sets both for the next run, also early=2")
		press(m, "esc")
	}
	press(m, "e", "j", "enter", "b")
	contains(t, m, "for the next run: algorithm=binomial and, which it needs, early=2")
	if got := plan(m); got != "early=2 algorithm=binomial" {
		t.Fatal(got)
	}
	press(m, "C")
	contains(t, m, "next run, needed by algorithm")
	press(m, "u")
	contains(t, m, "algorithm needs early: u there takes both back, e sets it to another value")
	begin(m, m.key("R", "R"))
	if got := fmt.Sprint((*backends)[1].environ); got != "[early=2 algorithm=2]" {
		t.Fatalf("restarted with %s", got)
	}
	// The new back end has early=2 only because of the setting: it is still needed.
	m.x.entry("early").v.Before = ok(catalog.TypeInt, 2)
	m.replan()
	if got := plan(m); got != "early=2 algorithm=binomial" || m.pending() {
		t.Errorf("after the restart: %s", got)
	}
	press(m, "j", "u")
	if got := plan(m); got != "" {
		t.Errorf("taken back: %s", got)
	}
}

// If what is needed can be written, both are written, the needed one first; if that is refused, the other is not written.
func TestWriteBoth(t *testing.T) {
	o := stagingOptions()
	o.Complete = func(c *catalog.Catalog, all []Setting) (out []Setting) {
		for _, s := range all {
			if s.V.Name == "algorithm" {
				out = append(out, Setting{V: c.Cvar("limit"), Value: integer(catalog.TypeInt, 8), NeededBy: []string{"algorithm"}})
			}
			out = append(out, s)
		}
		return out
	}
	m, backends := fakeSession(t, o)
	both := func() {
		press(m, ":", "'show algorithm", "enter", "e", "j", "enter")
		contains(t, m, "b writes both, also limit=8", "s sets it for the next run instead")
		_, next := m.Update(m.key("b", "b")())
		if next != nil {
			m.Update(next())
		}
	}
	both()
	contains(t, m, "limit: ok: 8", "reads back binomial")
	b := (*backends)[0]
	if len(b.writes) != 2 || b.writes[0].Name != "limit" || b.writes[1].Name != "algorithm" {
		t.Fatalf("%+v", b.writes)
	}
	press(m, "esc", "u", "esc", "u", "esc", "u")
	b.refuse = errors.New("no answer")
	b.writes = nil
	both()
	contains(t, m, "algorithm was not written, because it needs this", "failed: no answer")
	if len(b.writes) != 1 {
		t.Errorf("%+v", b.writes)
	}
}

// With --read-only and s in the question, any variable is set for the next run; bad settings are refused.
func TestStageOthers(t *testing.T) {
	o := stagingOptions()
	o.ReadOnly = true
	m, backends := fakeSession(t, o)
	press(m, ":", "'show limit", "enter", "e")
	contains(t, m, "--read-only")
	press(m, "ctrl+u", "'9", "enter")
	if plan(m) != "limit=9" || len((*backends)[0].writes) > 0 {
		t.Fatalf("%s, %+v", plan(m), (*backends)[0].writes)
	}
	press(m, "e", "ctrl+u", "enter")
	contains(t, m, "limit is not set for the next run")

	m, _ = fakeSession(t, stagingOptions())
	press(m, ":", "'show limit", "enter", "e", "ctrl+u", "'9", "enter", "s")
	if plan(m) != "limit=9" {
		t.Error(plan(m))
	}
	for command, want := range map[string]string{
		"stage":                 "NAME=VALUE is missing",
		"stage limit":           "NAME=VALUE is missing",
		"stage limt=1":          "did you mean limit",
		"stage messages=1":      "messages is no control variable",
		"stage limit=x":         "is not a value of type int",
		"stage algorithm=chain": "algorithm",
	} {
		press(m, ":", "'"+command, "enter")
		contains(t, m, want)
		if press(m, "esc"); plan(m) != "limit=9" {
			t.Errorf("%s: %s", command, plan(m))
		}
	}
	press(m, ":", "'stage limit=0x10", "enter", ":", "'stage algorithm=binomial", "enter")
	if plan(m) != "limit=16 early=2 algorithm=binomial" {
		t.Error(plan(m))
	}
}

// A back end that cannot start with the settings is started without them, and keeps them for another try.
func TestStageFails(t *testing.T) {
	m, backends := fakeSession(t, stagingOptions())
	m.stage(m.x.entry("early"), "5")
	m.Update(m.key("R", "R")())
	m.Update(catalogMsg{loadedMsg{err: link.ErrEnded}, m.serial}) // MPI_Init fails
	contains(t, m, "It was started with early=5. R restarts it without.")
	begin(m, m.key("R", "R"))
	got := (*backends)[2].environ
	if len(got) > 0 || plan(m) != "early=5" || !m.pending() {
		t.Errorf("started with %v; planned %s", got, plan(m))
	}
}

// Settings of a library that has changed are named, kept out of exports and of the back end, and can be taken back.
func TestStageOtherLibrary(t *testing.T) {
	file, path := userFile(t, "staged = ['demo gone=1', 'openmpi btl=self', 'demo limit=many', 'demo early=3', 'demo algorithm=chain']\n")
	o := stagingOptions()
	o.Config = file
	m, _ := fakeSession(t, o)
	flat(t, m, "not for the next run: gone: this library has no such control variable", "limit: \"many\" is not a value of type int")
	if plan(m) != "early=3" || len(m.staging.left) != 3 {
		t.Fatalf("%s, %q", plan(m), m.staging.left)
	}
	press(m, "C")
	contains(t, m, "not in this library", "0:early=3", "left out: gone: this library has no such control variable")
	press(m, "tab", "y")
	flat(t, m, "# not set: gone: this library has no such control variable", "copied 1:early=3", "without gone")
	press(m, "j", "enter")
	contains(t, m, "this library has no gone")
	press(m, "u")
	contains(t, m, "gone is not set for the next run")
	finish(m)
	if got := fmt.Sprint(again(t, path).Staged); strings.Contains(got, "gone") || !strings.Contains(got, "openmpi btl=self") || !strings.Contains(got, "demo early=3") {
		t.Errorf("kept %s", got)
	}
}

// What is set for the next run is there again in the next session.
func TestStagedIsKept(t *testing.T) {
	file, path := userFile(t, "")
	o := stagingOptions()
	o.Config = file
	m, _ := fakeSession(t, o)
	press(m, ":", "'stage early=4", "enter")
	finish(m)
	o.Config = again(t, path)
	m, _ = fakeSession(t, o)
	contains(t, m, "for the next run, from an earlier session: early=4")
	if plan(m) != "early=4" {
		t.Error(plan(m))
	}
}

func TestGoldenStage(t *testing.T) {
	for _, size := range [][2]int{{40, 10}, {40, 24}, {80, 24}, {120, 30}, {200, 40}} {
		o := stagingOptions()
		o.Term = term.Term{Terminal: export.Terminal{UTF8: true}}
		m, _ := fakeSession(t, o)
		resize(m, size[0], size[1])
		press(m, ":", "'show algorithm", "enter", "e", "j", "enter")
		golden(t, fmt.Sprintf("stage-question-%dx%d.txt", size[0], size[1]), onScreen(t, m))
		press(m, "b", ":", "'show early", "enter", "e")
		golden(t, fmt.Sprintf("stage-dialog-%dx%d.txt", size[0], size[1]), onScreen(t, m))
		press(m, "esc")
		edit(m, "limit", "8")
		press(m, "C")
		golden(t, fmt.Sprintf("stage-changes-%dx%d.txt", size[0], size[1]), onScreen(t, m))
	}
}
