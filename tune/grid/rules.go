package grid

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"mpitx/catalog"
	"mpitx/machine"
	"mpitx/settings"
	"mpitx/settings/decision"
	"mpitx/tune/kernel"
)

// element is the size of the elements that kernels use.
const element = 4

// Variable is the control variable that forces an algorithm of a function; "" for other implementations than Open MPI and MPICH.
func Variable(impl, function string) string {
	switch impl {
	case machine.OpenMPI:
		return "coll_tuned_" + function + "_algorithm"
	case machine.MPICH:
		return "MPIR_CVAR_" + strings.ToUpper(function) + "_INTRA_ALGORITHM"
	}
	return ""
}

// Settings are those with which all runs of a campaign start: algorithms can be forced, and the library says so if one cannot be used.
func Settings(impl string) []settings.NameValue {
	if impl == machine.MPICH {
		return []settings.NameValue{{Name: "MPIR_CVAR_COLLECTIVE_FALLBACK", Value: "error"}}
	}
	return []settings.NameValue{{Name: "coll_tuned_use_dynamic_rules", Value: "true"}}
}

// Collectives are the functions whose algorithms the library of a catalog lets users choose, with those algorithms; only those that are named, unless
// none is.
func Collectives(c *catalog.Catalog, impl string, l *decision.Library, only []string) (all []Collective, err error) {
	for _, function := range only {
		if !slices.Contains(kernel.Functions, function) || function == kernel.Pingpong {
			return nil, fmt.Errorf("%s is not a collective that mpitx measures%s", function, catalog.DidYouMean(kernel.Functions, function))
		}
	}
	for _, function := range kernel.Functions {
		if len(only) > 0 && !slices.Contains(only, function) {
			continue
		}
		one := Collective{Function: function, Variable: Variable(impl, function), Sizeless: sizeless(l, function)}
		v := c.Cvar(one.Variable)
		if v == nil {
			continue
		}
		if e := settings.Enum(impl, v, c.EnumOf(v), 1); e != nil {
			for _, item := range e.Items {
				if item.Name != "auto" && item.Name != "ignore" {
					one.Algorithms = append(one.Algorithms, Algorithm{Name: item.Name, Value: int64(item.Value)})
				}
			}
		}
		if c.Cvar(one.Variable+"_segmentsize") != nil {
			one.addSegments()
		}
		if len(one.Algorithms) > 0 {
			all = append(all, one)
		}
	}
	return all, nil
}

// sizeless reports whether rules for a function cannot depend on the size.
func sizeless(l *decision.Library, function string) bool {
	if l.Family == machine.MPICH {
		_, sized := decision.SizeOf(function)
		return !sized
	}
	call := func(bytes int64) int64 {
		return l.Counted(&decision.Call{Function: decision.Function(function), Ranks: 4, Bytes: bytes, Element: element})
	}
	return call(1<<10) == call(1<<20)
}

// Rules are the choices as rules for the library. Sizes beyond those that were measured, and other communicators, have none.
func Rules(l *decision.Library, choices []Choice) (all []*decision.Rule) {
	for _, c := range choices {
		r := &decision.Rule{Function: decision.Function(c.Function), Number: int(c.Algorithm.Value), Segment: c.Algorithm.Segment}
		for q := range r.Of {
			r.Of[q] = decision.All
		}
		r.Of[decision.Ranks] = decision.Range{Min: int64(c.Ranks), Max: int64(c.Ranks)}
		bytes := decision.Range{Min: l.Counted(callOf(c, c.From)), Max: l.Counted(callOf(c, c.To))}
		switch {
		case sizeless(l, c.Function):
		case l.Family == machine.MPICH:
			if q, _ := decision.SizeOf(c.Function); q == decision.Total {
				scale := func(n int64) int64 {
					if n *= int64(c.Ranks); c.Function == "gather" || c.Function == "scatter" { // MPICH counts elements
						n /= element
					}
					return n
				}
				r.Of[decision.Total] = decision.Range{Min: scale(c.From), Max: scale(c.To)}
			} else {
				r.Of[decision.Bytes] = bytes
			}
		default:
			r.Of[decision.Bytes] = bytes
		}
		if l.Family == machine.MPICH {
			r.Number, r.Algorithm = 0, mpichName(l, c)
		} else if c.Algorithm.Name == "chain" {
			r.Fanout = 4 // of coll_tuned_*_algorithm_chain_fanout, with which it was measured
		}
		all = append(all, r)
	}
	return all
}

func callOf(c Choice, bytes int64) *decision.Call {
	return &decision.Call{Function: decision.Function(c.Function), Ranks: c.Ranks, Bytes: bytes, Element: element}
}

// mpichName is the name of an algorithm in selection files: MPIR_Allreduce_intra_recursive_doubling.
func mpichName(l *decision.Library, c Choice) string {
	for _, kind := range []string{"_intra_", "_allcomm_"} {
		for _, name := range l.Algorithms[c.Function] {
			if strings.HasSuffix(name, kind+c.Algorithm.Name) {
				return name
			}
		}
	}
	return ""
}

// File is a file with the choices, as the library reads it, and the control variables that make it use the file.
type File struct {
	Name    string // without a directory
	Content []byte
	Set     []settings.NameValue
	Left    []Choice // that the file cannot express
}

// Write makes the file: rules of coll tuned, or a selection tree of MPICH; if the tree that is built into MPICH is not known, no file, but
// variables for algorithms that won everywhere.
func (r *Result) Write(l *decision.Library, dir string) (f File, err error) {
	comment := fmt.Sprintf("Measured by mpitx tune on %s with %s, %d ranks, seed %d.\nOther sizes and communicators are as without a file.", r.Plan.Host, r.Plan.Library, r.Plan.Ranks, r.Plan.Seed)
	choices := r.Choices
	if l.Family != machine.MPICH {
		form := decision.Classic
		f.Name = "rules.conf"
		if l.Reads(decision.JSON) {
			form, f.Name = decision.JSON, "rules.json"
		}
		path := filepath.Join(dir, f.Name)
		f.Set = []settings.NameValue{{Name: "coll_tuned_use_dynamic_rules", Value: "true"}, {Name: l.Variable(), Value: path}}
		f.Content, err = l.Write(Rules(l, choices), form, comment)
		return f, err
	}
	unnamed := func(c Choice) bool { return mpichName(l, c) == "" }
	if l.Default == nil {
		unnamed = func(Choice) bool { return true }
	}
	for _, c := range choices {
		if unnamed(c) {
			f.Left = append(f.Left, c)
		}
	}
	choices = slices.DeleteFunc(slices.Clone(choices), unnamed)
	if len(choices) > 0 {
		f.Name = "selection.json"
		f.Set = []settings.NameValue{{Name: l.Variable(), Value: filepath.Join(dir, f.Name)}}
		if f.Content, err = l.Write(Rules(l, choices), decision.Selection, comment); err != nil {
			return f, err
		}
	}
	f.everywhere(r)
	return f, nil
}

// everywhere sets the variables of algorithms that won in all cells of a function, if the file cannot have them.
func (f *File) everywhere(r *Result) {
	f.Left = slices.DeleteFunc(f.Left, func(c Choice) bool {
		for _, finding := range r.Findings {
			if finding.Coarse && finding.Function == c.Function && (!finding.Winner || finding.Algorithm != c.Algorithm) {
				return false
			}
		}
		set := settings.NameValue{Name: c.Variable, Value: c.Algorithm.Name}
		if !slices.Contains(f.Set, set) {
			f.Set = append(f.Set, set)
		}
		return true
	})
}

// Host is the name of this machine, and its cores.
func Host() (name string, cores int) {
	name, _ = os.Hostname()
	return name, runtime.NumCPU()
}

// Gain is how much less time a change leaves, in percent.
func Gain(change float64) float64 { return -100 * math.Min(change, 0) }
