package compare

import (
	"fmt"
	"path/filepath"

	"mpitx/recording/profile"
)

// pairRenamed joins the groups of a function of the program that was given another name between two builds. The sites of one build are
// then in a group that the other build does not have. They are the same if they are in the same files and lines, and no others are; or, if
// lines have moved, too, if they are the only ones in the same files, and make as many calls with as many bytes in each run.
func pairRenamed(groups map[string][]spot) {
	for _, rule := range []func([]spot) string{linesOf, filesOf} {
		alone := map[string][2][]string{} // groups that one side has, by what they share
		for group, spots := range groups {
			side, one := spots[0].at.side, true
			for _, x := range spots {
				one = one && x.at.side == side
			}
			if key := rule(spots); one && key != "" {
				both := alone[key]
				both[side] = append(both[side], group)
				alone[key] = both
			}
		}
		for _, both := range alone {
			if len(both[Base]) != 1 || len(both[New]) != 1 {
				continue
			}
			base, with := both[Base][0], both[New][0]
			if !shareBuild(groups[base], groups[with]) {
				groups[base] = append(groups[base], groups[with]...)
				delete(groups, with)
			}
		}
	}
}

// shareBuild reports whether two groups have sites of one build, in which a function has one name.
func shareBuild(a, b []spot) bool {
	builds := map[string]bool{}
	for _, x := range a {
		builds[x.build] = true
	}
	for _, x := range b {
		if builds[x.build] {
			return true
		}
	}
	return false
}

// linesOf is equal for groups of one function of MPI in the same lines; "" if these are not known.
func linesOf(spots []spot) string {
	lines := map[string]bool{}
	for _, x := range spots {
		if x.lines == nil {
			return ""
		}
		lines[x.exact] = true
	}
	return fmt.Sprint(filesKey(spots[0].shown), lines)
}

// filesOf is equal for groups of one function of MPI in the same files, with as many calls, messages and bytes in each run; "" if these
// differ between the runs of a side, or the source is not known.
func filesOf(spots []spot) string {
	totals, places := map[int]profile.Totals{}, map[string]bool{}
	for _, x := range spots {
		if x.lines == nil {
			return ""
		}
		t := totals[x.at.run]
		t.Calls, t.MessagesSent, t.BytesSent = t.Calls+x.site.Calls, t.MessagesSent+x.site.MessagesSent, t.BytesSent+x.site.Sent()
		t.MessagesReceived, t.BytesReceived = t.MessagesReceived+x.site.MessagesReceived, t.BytesReceived+x.site.BytesReceived
		totals[x.at.run], places[x.exact] = t, true
	}
	first := totals[spots[0].at.run]
	for _, t := range totals {
		if t != first {
			return ""
		}
	}
	return fmt.Sprint(filesKey(spots[0].shown), len(places), first.Calls, first.MessagesSent, first.BytesSent, first.MessagesReceived, first.BytesReceived)
}

func filesKey(s *profile.Function) string {
	key := s.Name + "\x00" + s.Within
	for _, f := range s.Places() {
		key += "\x00" + filepath.Base(f.File)
	}
	return key
}
