package explorer

import (
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	tea "charm.land/bubbletea/v2"

	"mpitx/catalog"
	"mpitx/export"
	"mpitx/ui/screen/program"
	"mpitx/ui/screen/prompt"
	"mpitx/ui/term"
)

// How well a term matches, best first: at the beginning of the name, of a word in it, inside a word; the letters of the term close
// together and in order; in the description; the letters far apart.
const (
	hitPrefix = iota
	hitWord
	hitInside
	hitClose
	hitText
	hitApart
	hitNone
)

// searcher finds variables as a query is typed. A longer query only searches the results of the shorter one, which are kept for a
// backspace.
type searcher struct {
	x     *index
	steps []searchStep
}

type searchStep struct {
	query string
	found []int32 // in the index's order
	order []int32 // the same, best first
}

// find returns what matches all words of a query, best first, or base if the query is empty. The caller must not change the result.
func (s *searcher) find(base []int32, query string) []int32 {
	query = lower(query)
	for len(s.steps) > 0 && !strings.HasPrefix(query, s.steps[len(s.steps)-1].query) {
		s.steps = s.steps[:len(s.steps)-1]
	}
	if n := len(s.steps); n > 0 {
		if slices.Equal(strings.Fields(s.steps[n-1].query), strings.Fields(query)) {
			return s.steps[n-1].order
		}
		base = s.steps[n-1].found
	}
	if strings.TrimSpace(query) == "" {
		return base
	}
	found, order := s.scan(base, strings.Fields(query))
	s.steps = append(s.steps, searchStep{query, found, order})
	return order
}

func (s *searcher) reset(x *index) { *s = searcher{x: x} }

type searchTerm struct {
	text, inside string // inside: with the separator before a word
	set          uint64
	pairs        pairs
}

// scan scores all of base, on all processors if base is large.
func (s *searcher) scan(base []int32, words []string) (found, order []int32) {
	terms := make([]searchTerm, len(words))
	for i, w := range words {
		terms[i] = searchTerm{w, "_" + w, letters(w), newPairs(w)}
	}
	scores := make([]uint16, len(base))
	parts := 1 + min(len(base)/8192, runtime.GOMAXPROCS(0)-1)
	var wg sync.WaitGroup
	var crash atomic.Pointer[program.Crash]
	for p := range parts {
		wg.Go(func() {
			defer program.Guard(func(c program.Crash) { crash.Store(&c) })
			for i := p * len(base) / parts; i < (p+1)*len(base)/parts; i++ {
				scores[i] = s.x.score(base[i], terms)
			}
		})
	}
	wg.Wait()
	if c := crash.Load(); c != nil {
		panic(*c)
	}
	counts := make([]int, 2*apartScore(terms)+1)
	total := 0
	for _, c := range scores {
		if c != noScore {
			counts[c+1]++
			total++
		}
	}
	for i := 1; i < len(counts); i++ {
		counts[i] += counts[i-1]
	}
	good := counts[apartScore(terms)]
	found, order = make([]int32, 0, total), make([]int32, total)
	for i, c := range scores {
		if c != noScore {
			found = append(found, base[i])
			order[counts[c]] = base[i]
			counts[c]++
		}
	}
	if good > 0 {
		order = order[:good] // scattered letters are only a guess at what was meant
	}
	return found, order
}

const noScore = 1<<16 - 1

// apartScore is added to the score of a variable that has the letters of a term far apart only.
func apartScore(terms []searchTerm) int { return hitNone * len(terms) }

// score adds up how well all terms match; noScore if one does not.
func (x *index) score(k int32, terms []searchTerm) uint16 {
	sum, apart := uint16(0), uint16(0)
	for i := range terms {
		h := hit(&x.entries[k], &x.pairs[k], &terms[i])
		if h == hitNone {
			return noScore
		}
		if h == hitApart {
			apart = uint16(apartScore(terms))
		}
		sum += uint16(h)
	}
	return sum + apart
}

func hit(e *entry, text *pairs, t *searchTerm) int {
	rank := hitNone
	if e.letters&t.set == t.set {
		if i := strings.Index(e.low, t.text); i >= 0 {
			switch {
			case i == 0:
				return hitPrefix
			case wordStart(e.low, i), strings.Contains(e.low[i:], t.inside):
				return hitWord
			}
			return hitInside
		}
		if first, last := spread(e.low, t.text); first >= 0 {
			if last-first < 2*len(t.text) {
				return hitClose
			}
			rank = hitApart
		}
	}
	if text.holds(&t.pairs) && strings.Contains(e.text, t.text) {
		return hitText
	}
	return rank
}

func wordStart(s string, i int) bool {
	c := s[i-1]
	return (c < 'a' || c > 'z') && (c < '0' || c > '9')
}

// spread finds the bytes of term in s, in order, starting as late as possible; -1 if s does not have them.
func spread(s, term string) (first, last int) {
	at := 0
	for i := range len(term) {
		k := strings.IndexByte(s[at:], term[i])
		if k < 0 {
			return -1, -1
		}
		at += k + 1
	}
	last = at - 1
	first = last
	for i := len(term) - 1; i >= 0; i-- {
		for s[first] != term[i] {
			first--
		}
		if i > 0 {
			first--
		}
	}
	return first, last
}

// hits marks the bytes of a name that a query matches. Letters far apart are not marked if the description has the word.
func (e *entry) hits(query string) []bool {
	low := e.low
	marks := make([]bool, len(low))
	for _, t := range strings.Fields(lower(query)) {
		if i := strings.Index(low, t); i >= 0 {
			for k := range len(t) {
				marks[i+k] = true
			}
			continue
		}
		first, last := spread(low, t)
		if first < 0 || last-first >= 2*len(t) && strings.Contains(e.text, t) {
			continue
		}
		at := first
		for i := range len(t) {
			at += strings.IndexByte(low[at:], t[i])
			marks[at] = true
			at++
		}
	}
	return marks
}

// Search is what the explorer's / finds: the variables, events and event sources whose names or descriptions match all words of a query, best first.
func Search(c *catalog.Catalog, query string) []catalog.Entry {
	x := newIndex(c, term.Term{Terminal: export.Terminal{UTF8: true}})
	s := searcher{x: x}
	return x.items(s.find(x.all, query))
}

func (m *Model) startSearch() {
	m.leave()
	m.mode, m.before, m.Line, m.focus = modeSearch, m.here(), prompt.New(m.query), paneList
	m.before.id = m.chosen
	if m.query == "" {
		m.home = m.chosen
	}
	m.searches.Rewind()
}

// endSearch shows the branch again, or all variables if the branch does not have the variable. The cursor goes back to where it was,
// unless the user chose a variable of the search.
func (m *Model) endSearch() {
	if m.query == "" {
		return
	}
	id := ""
	if e := m.current(); e != nil {
		id = e.v.ID()
	}
	if id == m.found && m.home != "" {
		id = m.home
	}
	m.query = ""
	if m.refill(); id != "" && !m.point(id) {
		m.enter(m.x.root)
		m.point(id)
	}
}

func (m *Model) keySearch(key, text string) tea.Cmd {
	switch key {
	case "enter":
		m.mode = modeNormal
		m.searches.Add(strings.TrimSpace(m.query))
		m.choose()
		if m.found = ""; m.list.at == 0 {
			m.found = m.chosen
		}
		m.refill()
	case "esc":
		m.mode, m.query, m.chosen = modeNormal, m.before.query, m.before.id
		m.refill()
	case "down":
		m.move(1)
	case "up":
		m.move(-1)
	case "ctrl+p":
		m.Line = prompt.New(m.searches.Older(m.Line.String()))
		m.typed()
	case "ctrl+n":
		m.Line = prompt.New(m.searches.Newer(m.Line.String()))
		m.typed()
	default:
		if m.Line.Key(key, text) {
			m.typed()
		}
	}
	return nil
}

func (m *Model) typed() {
	switch m.mode {
	case modeSearch:
		if q := m.Line.String(); q != m.query {
			m.query = q
			if m.refill(); q != "" {
				m.list, m.detail = scroll{}, scroll{} // the best match
			}
		}
	case modeEdit, modeSet:
		m.validate()
	case modeRanks:
		m.validRanks()
	}
	m.Offers = nil
}
