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

// How well a term matches, best first: at the beginning of the name, of a word in it or in the purpose, inside a word; the letters of the
// term close together and in order; in the description; a word near in meaning; the letters far apart.
const (
	hitPrefix = iota
	hitWord
	hitInside
	hitClose
	hitText
	hitNear
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
	terms []searchTerm
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
	}
	if strings.TrimSpace(query) == "" {
		return base
	}
	terms := newTerms(strings.Fields(query))
	for _, step := range slices.Backward(s.steps) {
		if narrows(step.terms, terms) {
			base = step.found
			break
		}
	}
	found, order := s.scan(base, terms)
	s.steps = append(s.steps, searchStep{query, terms, found, order})
	return order
}

// narrows reports whether the terms of a longer query find only what those of a shorter one have found. A word that has become long
// enough for others to be near to it may find more.
func narrows(short, long []searchTerm) bool {
	for i := range short {
		if i >= len(long) {
			return false
		}
		a, b := &short[i], &long[i]
		last := i == len(short)-1 && strings.HasPrefix(b.text, a.text) && (len(a.text) >= minNear || b.near == nil)
		if a.text != b.text && !last {
			return false
		}
	}
	return true
}

func (s *searcher) reset(x *index) { *s = searcher{x: x} }

type searchTerm struct {
	text   string
	name   string       // as a name has it
	inside string       // with the separator before a word
	sieve  sieve        // of text
	named  sieve        // of name
	near   []searchTerm // words near in meaning
}

func newTerm(text string) searchTerm {
	name := strings.ReplaceAll(text, " ", "_")
	return searchTerm{text: text, name: name, inside: "_" + name, sieve: newSieve(text), named: newSieve(name)}
}

// newTerms are what the words of a query ask for.
func newTerms(words []string) (terms []searchTerm) {
	all := phrases(words)
	for i, text := range all {
		t := newTerm(text)
		for _, w := range alike(text, i == len(all)-1) {
			t.near = append(t.near, newTerm(w))
		}
		terms = append(terms, t)
	}
	return terms
}

// scan scores all of base, on all processors if base is large.
func (s *searcher) scan(base []int32, terms []searchTerm) (found, order []int32) {
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
	step := hitNone * len(terms)
	counts := make([]int, 3*step+1)
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
	direct, good := counts[step], counts[2*step]
	found, order = make([]int32, 0, total), make([]int32, total)
	for i, c := range scores {
		if c != noScore {
			found = append(found, base[i])
			order[counts[c]] = base[i]
			counts[c]++
		}
	}
	switch {
	case direct > 0 && len(terms) == 1:
		order = order[:direct] // what one word means is clear
	case good > 0:
		order = order[:good] // scattered letters are only a guess at what was meant
	}
	return found, order
}

const noScore = 1<<16 - 1

// score adds up how well all terms match; noScore if one does not. A variable that has a term by a word near in meaning only comes after
// all others, and one that has the letters of a term far apart only after these.
func (x *index) score(k int32, terms []searchTerm) uint16 {
	sum, worst := 0, 0
	for i := range terms {
		h := hit(&x.entries[k], &x.sieves[k], &terms[i])
		if h == hitNone {
			return noScore
		}
		sum += h
		worst = max(worst, h)
	}
	if worst >= hitNear {
		sum += (worst - hitText) * hitNone * len(terms)
	}
	return uint16(sum)
}

func hit(e *entry, s *sieve, t *searchTerm) int {
	rank := hitNone
	spelled, described := s.spells(&t.named), s.holds(&t.sieve)
	if spelled && s.holds(&t.named) {
		if i := strings.Index(e.low, t.name); i >= 0 {
			switch {
			case i == 0:
				return hitPrefix
			case wordStart(e.low, i), strings.Contains(e.low[i:], t.inside):
				return hitWord
			}
			return hitInside
		}
	}
	if described && e.purpose != "" && strings.Contains(e.purpose, t.text) {
		return hitWord
	}
	if spelled {
		if first, last := spread(e.low, t.name); first >= 0 {
			if last-first < 2*len(t.text) {
				return hitClose
			}
			rank = hitApart
		}
	}
	if described && strings.Contains(e.text, t.text) {
		return hitText
	}
	return min(rank, nearest(e, s, t.near))
}

// nearest is the best match of words near in meaning.
func nearest(e *entry, s *sieve, words []searchTerm) int {
	purpose, name, described := false, false, false
	for i := range words {
		t := &words[i]
		name = name || s.spells(&t.named) && s.holds(&t.named) && wordAt(e.low, t.name) >= 0
		if s.holds(&t.sieve) {
			purpose = purpose || wordAt(e.purpose, t.text) >= 0
			described = described || wordAt(e.text, t.text) >= 0
		}
	}
	switch {
	case purpose && name:
		return hitWord
	case purpose:
		return hitInside
	case name || described:
		return hitNear
	}
	return hitNone
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
func (e *entry) hits(terms []searchTerm) []bool {
	low := e.low
	marks := make([]bool, len(low))
	mark := func(at, n int) {
		for k := range n {
			marks[at+k] = true
		}
	}
	for i := range terms {
		term := &terms[i]
		t := term.name
		if i := strings.Index(low, t); i >= 0 {
			mark(i, len(t))
			continue
		}
		first, last := spread(low, t)
		if near := first < 0 || last-first >= 2*len(t); near {
			for _, w := range term.near {
				if i := wordAt(low, w.name); i >= 0 {
					mark(i, len(w.name))
					first = -1
				}
			}
		}
		if first < 0 || last-first >= 2*len(t) && (strings.Contains(e.text, term.text) || strings.Contains(e.purpose, term.text)) {
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

// terms are those of the query on the screen.
func (m *Model) terms() []searchTerm {
	if m.termsOf != m.query {
		m.termsOf, m.lastTerms = m.query, newTerms(strings.Fields(lower(m.query)))
	}
	return m.lastTerms
}

// Search is what the explorer's / finds: the variables, events and event sources whose names, descriptions or purposes match all words of a
// query, or have words near in meaning, best first. Essentials are the variables with a purpose, by name.
func Search(c *catalog.Catalog, essentials map[string]Essential, query string) []catalog.Entry {
	x := newIndex(c, term.Term{Terminal: export.Terminal{UTF8: true}})
	x.markEssentials(essentials)
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
