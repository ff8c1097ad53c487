package decision

import (
	"bytes"
	"errors"
	"fmt"
)

// Read reads a file as a library does. Problems of the file are in the table.
func Read(data []byte, l *Library) (*Table, error) {
	switch l.Family {
	case "openmpi":
		if isHan(data) {
			return readHan(data, l), nil
		}
		root, _, ok := parseJSON(data, true)
		switch {
		case ok && l.since(6):
			return readRulesJSON(root, l), nil
		case ok && root.kind == '{':
			t := &Table{Form: JSON, library: l}
			t.problem(1, true, "%s reads rules in JSON from 6.0 on; it takes the numbers in the file for the classic form", l.Text())
			return t, nil
		}
		return readClassic(data, l), nil
	case "mpich":
		root, problem, ok := parseJSON(withoutComments(data), false)
		if !ok {
			t := &Table{Form: Selection, library: l}
			t.Problems = append(t.Problems, problem)
			return t, nil
		}
		if bytes.Contains(data, []byte("algorithm=MPIDI_POSIX_")) {
			return nil, errors.New("it selects algorithms of MPICH's shared memory module posix; mpitx does not read it, because MPICH does not show what served a call there, and 4.0 opens another file " +
				"than MPIR_CVAR_CH4_POSIX_COLL_SELECTION_TUNING_JSON_FILE names")
		}
		if !bytes.Contains(data, []byte("algorithm=MPIR_")) && bytes.Contains(data, []byte("composition=")) {
			own := *l
			own.composed, own.ch4 = true, false // it selects for communicators of programs, not for those of nodes
			return readSelection(root, &own, Composed), nil
		}
		return readSelection(root, l, Selection), nil
	}
	return nil, fmt.Errorf("mpitx knows the decision files of Open MPI and MPICH, not of %s", l.Text())
}

// withoutComments replaces comments, which MPICH's reader skips, by spaces.
func withoutComments(data []byte) []byte {
	out := bytes.Clone(data)
	for k := 0; k < len(out); k++ {
		end := -1
		switch {
		case out[k] == '"':
			for k++; k < len(out) && out[k] != '"'; k++ {
				if out[k] == '\\' {
					k++
				}
			}
			continue
		case bytes.HasPrefix(out[k:], []byte("//")):
			end = bytes.IndexByte(out[k:], '\n')
		case bytes.HasPrefix(out[k:], []byte("/*")):
			if end = bytes.Index(out[k+2:], []byte("*/")); end < 0 {
				return out
			}
			end += 4
		}
		for ; end > 0; end-- {
			if out[k] != '\n' {
				out[k] = ' '
			}
			k++
		}
	}
	return out
}
