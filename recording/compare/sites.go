package compare

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"mpitx/recording/profile"
)

// match is the item that a call site belongs to: its key, and the place to show, on each side ("" in New: as in Base).
type match struct {
	key  string
	text [2]string
}

// spot is a call site among those of one group.
type spot struct {
	at    place
	site  *profile.Function
	shown *profile.Function // the same place, with its source if any run knows it
	build string            // of the programs and libraries of its frames
	exact string            // equal for the same place, if the source is the same
	lines []int             // of its frames; nil if any is unknown
}

// matchSites finds the call sites of all runs that are the same place. Sites of one function in the same functions of the program are
// a group; they match by their lines. If the source changed, the groups' sites match in order if there are as many, or else as one
// item. Addresses match only within one build, whether the source is known in both runs or not, and whatever the file is called.
func (c *Comparison) matchSites() map[*profile.Function]*match {
	groups, known := map[string][]spot{}, c.knownSources()
	c.each(func(at place, in *Input) {
		for _, s := range in.Profile.Sites {
			if len(s.Stack) > 0 {
				group, spot := spotOf(at, s, known[codeOf(s)], programOf(in))
				groups[group] = append(groups[group], spot)
			}
		}
	})
	pairRenamed(groups)
	found := map[*profile.Function]*match{}
	for group, spots := range groups {
		matchGroup(group, spots, found)
	}
	return found
}

// knownSources are sites whose source is known, by their code; nil if runs disagree about it.
func (c *Comparison) knownSources() map[string]*profile.Function {
	known := map[string]*profile.Function{}
	c.each(func(_ place, in *Input) {
		for _, s := range in.Profile.Sites {
			code := codeOf(s)
			if code == "" || slices.ContainsFunc(s.Places(), func(f profile.Frame) bool { return f.Line == 0 }) {
				continue
			}
			if other, is := known[code]; is && (other == nil || !slices.Equal(other.Lines(), s.Lines())) {
				s = nil
			}
			known[code] = s
		}
	})
	return known
}

// codeOf is equal for sites at the same code of one build; "" if a build is not known.
func codeOf(s *profile.Function) string {
	code := s.Name + "\x00" + s.Within
	for _, a := range s.Stack {
		if a.BuildID == "" {
			return ""
		}
		code += fmt.Sprintf("\x00%s+%x", a.BuildID, a.Offset)
	}
	return code
}

// programOf is the name of the program's file.
func programOf(in *Input) string {
	for _, r := range in.Run.Ranks {
		if name, _, _ := strings.Cut(r.Program, " "); name != "" {
			return filepath.Base(name)
		}
	}
	return ""
}

// moduleName is equal for the programs of two runs, and for versions of a library.
func moduleName(path, program string) string {
	name := filepath.Base(path)
	if name == program {
		return "the program"
	}
	if at := strings.Index(name, ".so."); at > 0 {
		name = name[:at+len(".so")]
	}
	return name
}

// spotOf returns a site, and the key of its group. known is the same place with its source; nil: no run knows it.
func spotOf(at place, s, known *profile.Function, program string) (group string, _ spot) {
	group, x := s.Name+"\x00"+s.Within, spot{at: at, site: s, shown: s, lines: []int{}}
	if known != nil && slices.ContainsFunc(s.Places(), func(f profile.Frame) bool { return f.Line == 0 }) {
		x.shown = known
	}
	frames := x.shown.Places()
	for i := range frames {
		f := &frames[i]
		build := f.Address.BuildID
		if build == "" { // it may be any
			build = fmt.Sprint(at)
		}
		x.build += build + " "
		if f.Line > 0 {
			group += "\x00" + f.Function + "\x00" + filepath.Base(f.File)
			x.exact += fmt.Sprint(f.Line, f.Inlined, " ")
			x.lines = append(x.lines, f.Line)
			continue
		}
		group += "\x00" + f.Function + "\x00+" + moduleName(f.Address.Path, program)
		x.exact += fmt.Sprintf("%s+%x ", build, f.Address.Offset)
		x.lines = nil
	}
	if slices.ContainsFunc(frames, func(f profile.Frame) bool { return f.Line == 0 }) {
		x.lines = nil
	}
	return group, x
}

// matchGroup matches the sites of one group.
func matchGroup(group string, spots []spot, found map[*profile.Function]*match) {
	builds, all, lined := map[string]map[string]bool{}, map[string]bool{}, true
	for _, x := range spots {
		if builds[x.build] == nil {
			builds[x.build] = map[string]bool{}
		}
		builds[x.build][x.exact], all[x.exact] = true, true
		lined = lined && x.lines != nil
	}
	unchanged, equal := false, true // no build has a line that another lacks; all have as many lines
	for _, exact := range builds {
		unchanged = unchanged || len(exact) == len(all)
		equal = equal && len(exact) == len(builds[spots[0].build])
	}
	items := map[string]*match{}
	for _, x := range spots {
		key, text := group, mergedText(x.shown)
		switch {
		case unchanged:
			key, text = group+"\x00"+x.exact, x.shown.Place()
		case equal && lined:
			key, text = fmt.Sprint(group, "\x00", orderOf(x, spots)), x.shown.Place()
		case equal && len(builds[x.build]) == 1:
			text = x.shown.Place()
		}
		if items[key] == nil {
			items[key] = &match{key: key}
		}
		items[key].text[x.at.side] = cmp.Or(items[key].text[x.at.side], text)
		found[x.site] = items[key]
	}
	for _, m := range items {
		if m.text[Base] == "" || m.text[Base] == m.text[New] {
			m.text = [2]string{cmp.Or(m.text[Base], m.text[New]), ""}
		}
	}
}

// orderOf is how many places of its build come before a site.
func orderOf(x spot, spots []spot) int {
	before := map[string]bool{}
	for _, o := range spots {
		if o.build == x.build && slices.Compare(o.lines, x.lines) < 0 {
			before[o.exact] = true
		}
	}
	return len(before)
}

// mergedText is the place of several sites in one function.
func mergedText(s *profile.Function) string {
	module := s.Stack[0].Path
	file := module[strings.LastIndexByte(module, '/')+1:]
	if len(s.Frames) == 0 {
		return cmp.Or(file, "unknown")
	}
	f := &s.Frames[0]
	if f.File != "" {
		file = filepath.Base(f.File)
	}
	if f.Function != "" {
		return f.Function + " in " + file
	}
	return cmp.Or(file, "unknown")
}
