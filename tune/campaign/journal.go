package campaign

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
)

// Journal keeps the outcomes of a campaign in a file, one JSON value a line, so that a campaign that was stopped goes on where it was. A
// line that was not written to its end, as of a process that was killed, is made again.
type Journal struct {
	file *os.File
	done []Outcome // of the earlier processes
}

// OpenJournal opens a file of outcomes, or makes it. Only one process can have it open.
func OpenJournal(path string) (*Journal, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	if held(f) {
		f.Close()
		return nil, fmt.Errorf("%s: another mpitx tune goes on with this campaign", path)
	}
	j := &Journal{file: f}
	if err := j.read(); err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return j, nil
}

func (j *Journal) read() error {
	content, err := io.ReadAll(j.file)
	if err != nil {
		return err
	}
	whole := int64(bytes.LastIndexByte(content, '\n') + 1)
	for line := range bytes.Lines(content[:whole]) {
		var o Outcome
		if err := json.Unmarshal(line, &o); err != nil || o.Number != len(j.done) {
			return fmt.Errorf("line %d: is not run %d of a campaign", len(j.done)+1, len(j.done))
		}
		j.done = append(j.done, o)
	}
	_, err = j.file.Seek(whole, io.SeekStart)
	return errors.Join(j.file.Truncate(whole), err)
}

// Done is how many runs the journal had when it was opened.
func (j *Journal) Done() int { return len(j.done) }

// Run gives the outcomes that the journal has, makes the other runs, and adds them.
func (j *Journal) Run(run Runner) Runner {
	return func(e Experiment, c *Candidate) (Outcome, error) {
		if e.Number < len(j.done) {
			if j.done[e.Number].Experiment != e {
				return Outcome{}, fmt.Errorf("%s: run %d is of another campaign, or of another version of mpitx; begin a new campaign", j.file.Name(), e.Number)
			}
			return j.done[e.Number], nil
		}
		o, err := run(e, c)
		if err != nil {
			return o, err
		}
		o.Experiment = e
		line, err := json.Marshal(o)
		if err == nil {
			_, err = j.file.Write(append(line, '\n'))
		}
		return o, err
	}
}

// Extend gives a plan other limits for the runs that the journal does not have yet. It fails if the campaign is at its end with these, too.
func (j *Journal) Extend(p *Plan, limits Limits) error {
	now := p.limits(len(j.done))
	if limits.From = now.From; limits == now {
		return nil
	}
	limits.From = len(j.done)
	longer := *p
	if limits.From == 0 {
		longer.Limits, longer.Later = limits, nil
	} else {
		longer.Later = append(slices.Clone(p.Later), limits)
	}
	more := errors.New("more runs")
	_, err := Run(longer, j.Run(func(Experiment, *Candidate) (Outcome, error) { return Outcome{}, more }))
	switch {
	case errors.Is(err, more):
	case err != nil:
		return err
	case limits.Runs > 0 && limits.Runs < len(j.done):
		return fmt.Errorf("the campaign has %d runs already", len(j.done))
	default:
		return errors.New("the campaign is at its end, and further looks at its comparison would make it err more often; begin a new one")
	}
	*p = longer
	return nil
}

// Close closes the file.
func (j *Journal) Close() error { return j.file.Close() }
