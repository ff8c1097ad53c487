package explorer

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/charmbracelet/colorprofile"

	"mpitx/catalog"
	"mpitx/export"
	"mpitx/ui/term"
)

// large is a catalog of n variables in nested categories.
func large(n int) *catalog.Catalog {
	c := &catalog.Catalog{Library: catalog.Library{Family: "demo"}, Lists: catalog.Lists{Cvars: make([]catalog.Variable, n)}}
	for k := range 100 {
		c.Categories = append(c.Categories, catalog.Category{Name: fmt.Sprintf("category_%02d", k)})
	}
	words := []string{"eager", "limit", "priority", "algorithm", "segment", "verbose", "buffer", "rendezvous"}
	for i := range n {
		name := fmt.Sprintf("framework%02d_component%03d_%s_%s_%06d", i%40, i%333, words[i%8], words[i/8%8], i)
		c.Cvars[i] = catalog.Variable{Kind: catalog.Cvars, Name: name, Type: catalog.TypeInt, Scope: catalog.ScopeLocal,
			Description: "Sets the " + words[i%8] + " of the component; larger values need more memory on every rank. Number " + fmt.Sprint(i),
			After:       &catalog.Reading{Status: catalog.StatusOK, Value: catalog.NewValue(catalog.TypeInt, []byte{byte(i), 0, 0, 0}), Count: 1}}
		k := &c.Categories[i%100]
		k.Cvars = append(k.Cvars, name)
	}
	return c
}

const many = 100_000

// TestLarge walks through 100,000 variables: only what is on the screen is drawn, whatever the machine's speed.
func TestLarge(t *testing.T) {
	m := explorer(t, large(many), Options{Term: term.Term{Terminal: export.Terminal{UTF8: true}}}, 200, 60)
	contains(t, m, "1 of 100000")
	press(m, "G")
	contains(t, m, "100000 of 100000")
	frame := testing.AllocsPerRun(5, func() { m.generation++; m.frame() })
	small := explorer(t, large(1000), Options{Term: term.Term{Terminal: export.Terminal{UTF8: true}}}, 200, 60)
	if few := testing.AllocsPerRun(5, func() { small.generation++; small.frame() }); frame > 2*few {
		t.Errorf("a frame of 100,000 variables allocates %v times, of 1,000 %v times", frame, few)
	}
	press(m, "/", "'eager limit 099")
	if len(m.shown) == 0 {
		t.Error("nothing found")
	}
	onScreen(t, m)
}

func BenchmarkFirstFrameOpenMPI(b *testing.B) {
	for b.Loop() {
		explorer(b, fixture(b, "openmpi-4.1.4.json"), Options{Term: term.Term{Terminal: export.Terminal{UTF8: true}, Profile: colorprofile.TrueColor}}, 200, 60).frame()
	}
}

func BenchmarkIndex100k(b *testing.B) {
	c := large(many)
	for b.Loop() {
		newIndex(c, term.Term{Terminal: export.Terminal{UTF8: true}})
	}
}

// BenchmarkKey100k is a key press and the frame after it; it reports the 99th percentile.
func BenchmarkKey100k(b *testing.B) {
	m := explorer(b, large(many), Options{Term: term.Term{Terminal: export.Terminal{UTF8: true}, Profile: colorprofile.TrueColor}}, 200, 60)
	keys := []string{"j", "j", "pgdown", "G", "k", "g", "tab", "j", "shift+tab"}
	var took []time.Duration
	for i := 0; b.Loop(); i++ {
		start := time.Now()
		m.key(keys[i%len(keys)], "")
		m.View()
		took = append(took, time.Since(start))
	}
	percentile(b, took)
}

// BenchmarkSearch100k is one key of a query and the frame after it; it reports the 99th percentile.
func BenchmarkSearch100k(b *testing.B) {
	m := explorer(b, large(many), Options{Term: term.Term{Terminal: export.Terminal{UTF8: true}, Profile: colorprofile.TrueColor}}, 200, 60)
	query := "eager limit 0999"
	m.key("/", "/")
	var took []time.Duration
	for i := 0; b.Loop(); i++ {
		k := i % (len(query) + 1)
		if k == len(query) {
			m.key("ctrl+u", "")
			continue
		}
		start := time.Now()
		m.key(query[k:k+1], query[k:k+1])
		m.View()
		took = append(took, time.Since(start))
	}
	percentile(b, took)
}

func percentile(b *testing.B, took []time.Duration) {
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "ms-p99")
	b.ReportMetric(float64(took[len(took)-1].Microseconds())/1000, "ms-max")
}

// BenchmarkRelated100k looks for what belongs to a variable: it is done once for each that is shown.
func BenchmarkRelated100k(b *testing.B) {
	x := newIndex(large(many), term.Term{Terminal: export.Terminal{UTF8: true}})
	for i := 0; b.Loop(); i++ {
		x.related(&x.entries[i*7919%many])
	}
}
