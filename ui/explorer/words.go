package explorer

import (
	"fmt"
	"math"
	"slices"

	"mpitx/catalog"
)

// words are what the numbers of a series stand for, if they are not amounts: items of an enumeration, or texts. Such numbers have no
// sum and no rate.
type words struct {
	enum  *catalog.Enum
	texts []string // a number is a place here
}

func (w *words) are() bool { return w.enum != nil || w.texts != nil }

// number is what the curve of a reading shows: an item's value, the place of a text, or an amount; NaN: there is no value.
func (w *words) number(r *catalog.Reading, enum *catalog.Enum) float64 {
	text := r.Value.Type().Form() == catalog.FormText
	switch {
	case r.Status != catalog.StatusOK || r.Value.IsZero():
		return math.NaN()
	case text || enum != nil && r.Value.Len() > 1:
		return w.place(r.Value.Format(enum))
	}
	w.enum = enum
	return number(r)
}

// place is that of a text; NaN: there are too many.
func (w *words) place(text string) float64 {
	i := slices.Index(w.texts, text)
	if i < 0 {
		if len(w.texts) == maxSamples {
			return math.NaN()
		}
		i = len(w.texts)
		w.texts = append(w.texts, text)
	}
	return float64(i)
}

func (w *words) word(x float64) string {
	i := int(x)
	if w.enum != nil {
		if name, ok := w.enum.NameOf(int64(i)); ok {
			return name
		}
	} else if i >= 0 && i < len(w.texts) {
		if w.texts[i] == "" {
			return `""`
		}
		return w.texts[i]
	}
	return fmt.Sprint(i)
}

// most is the number that most ranks have in a sample, and how many other numbers there are; NaN: no rank has one.
func most(row []float64) (most float64, others int) {
	counts := map[float64]int{}
	most = math.NaN()
	for _, x := range row {
		if !math.IsNaN(x) {
			counts[x]++
		}
	}
	for x, n := range counts {
		if best := counts[most]; n > best || n == best && x < most {
			most = x
		}
	}
	return most, max(len(counts)-1, 0)
}
