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
		root, problem, ok := parseJSON(data, false)
		if !ok {
			t := &Table{Form: Selection, library: l}
			t.Problems = append(t.Problems, problem)
			return t, nil
		}
		if !bytes.Contains(data, []byte("algorithm=MPIR_")) && bytes.Contains(data, []byte("composition=")) {
			return nil, errors.New("it selects compositions of MPICH's ch4, which mpitx does not read: expected algorithm=MPIR_…")
		}
		return readSelection(root, l, len(data)), nil
	}
	return nil, fmt.Errorf("mpitx knows the decision files of Open MPI and MPICH, not of %s", l.Text())
}
