package recording

import (
	"encoding/json"
	"errors"
	"hash/crc32"
	"os"
	"path/filepath"
	"time"

	"mpitx/recording/store"
)

// Clocks say how the clocks of a run's nodes differ. Package clocks finds it out.
type Clocks struct {
	Base   string      `json:"base"`   // what times they are for
	Curves []NodeCurve `json:"curves"` // of the nodes whose times are corrected
	Pairs  []ClockPair `json:"pairs"`  // of nodes with messages between them
}

// NodeCurve converts the times of a node to those of the run.
type NodeCurve struct {
	Node  int    `json:"node"` // its number in [Run.Nodes]
	Host  string `json:"host"`
	Curve Curve  `json:"knots"`
}

// ClockPair is two nodes with messages between them.
type ClockPair struct {
	Nodes    [2]int        `json:"nodes"` // their numbers in [Run.Nodes]
	Hosts    [2]string     `json:"hosts"`
	Messages uint64        `json:"messages"`
	OneWay   bool          `json:"one_way"`     // all in one direction
	Known    bool          `json:"known"`       // how the clocks differ is known, from these messages or from those with other nodes
	Apart    time.Duration `json:"apart_ns"`    // how far the second clock was ahead of the first one at their first message
	Drift    float64       `json:"drift"`       // what the second clock gained until their last message, in seconds per second
	Error    time.Duration `json:"error_ns"`    // the bound of the error between corrected times of both, from the first message of the run to its end
	Before   uint64        `json:"back_before"` // messages that were received before they were sent, by the nodes' own clocks
	After    uint64        `json:"back_after"`  // likewise, by corrected times
}

const (
	clocksFile      = "clocks.json"
	clocksSchema    = "mpitx.clocks"
	clocksVersion   = 1
	mostClocksBytes = 1 << 28
)

type clocksDocument struct {
	Schema  string          `json:"schema"`
	Version int             `json:"version"`
	Sum     uint32          `json:"crc32c"` // of Clocks
	Clocks  json.RawMessage `json:"clocks"`
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// KeepClocks writes the clocks of a run into its directory, for [Open]. It replaces the file in one step; an error is one of the file system.
func (run *Run) KeepClocks() error {
	clocks, err := json.Marshal(run.Clocks)
	if err != nil {
		return err
	}
	text, err := json.Marshal(clocksDocument{clocksSchema, clocksVersion, crc32.Checksum(clocks, castagnoli), clocks})
	if err != nil {
		return err
	}
	path := filepath.Join(run.Dir, clocksFile)
	if err := os.WriteFile(path+".part", append(text, '\n'), 0o600); err != nil {
		os.Remove(path + ".part")
		return err
	}
	return os.Rename(path+".part", path)
}

// readClocks corrects times as the file of the run says. It does not, if times were others when the file was written: somebody has recovered
// what was missing then.
func (run *Run) readClocks() {
	text, ok := run.store.ReadFile(clocksFile, mostClocksBytes)
	if !ok {
		return
	}
	c, at, err := parseClocks(text)
	if err != nil {
		run.store.Damaged(clocksFile, at, "%v", err)
	} else if c.Base == run.ClockBase() {
		run.SetClocks(c)
	}
}

// parseClocks reads such a file. An error is at a byte.
func parseClocks(text []byte) (c *Clocks, at int64, err error) {
	var d clocksDocument
	at, err = parseDocument(text, &d)
	switch {
	case err != nil:
	case d.Schema != clocksSchema:
		err = errors.New("this is not a document of " + clocksSchema)
	case d.Version != clocksVersion:
		err = store.OtherVersion(d.Version, clocksVersion)
	case d.Sum != crc32.Checksum(d.Clocks, castagnoli):
		err = errors.New("its checksum is wrong")
	default:
		at, err = parseDocument(d.Clocks, &c)
	}
	if err == nil && c == nil {
		err = errors.New("it has no clocks")
	}
	return c, at, err
}
