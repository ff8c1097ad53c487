package grid

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"time"

	"mpitx/tune/kernel"
)

// Journal keeps what the runs of a campaign measured in a file: the plan in its first line, a run in each further one. A campaign that was stopped
// goes on with the run that the file lacks. A line that was not written to its end is left out.
type Journal struct {
	file *os.File
	done []entry
	next int // the entry that the campaign comes to next
}

type entry struct {
	Stage      string             `json:"stage"`
	Seconds    float64            `json:"seconds"`
	Operations []kernel.Operation `json:"operations"`
	Results    []kernel.Result    `json:"results"`
}

// OtherPlan is the error for a journal of another campaign.
type OtherPlan struct{ Path string }

func (o OtherPlan) Error() string {
	return o.Path + " is of a campaign with another library, machine, sizes, seed or settings"
}

// OpenJournal opens the file, or makes it.
func OpenJournal(path string, plan Plan) (*Journal, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	j := &Journal{file: f}
	if err := j.read(path, plan); err != nil {
		f.Close()
		return nil, err
	}
	return j, nil
}

func (j *Journal) read(path string, plan Plan) error {
	head, err := json.Marshal(plan)
	if err != nil {
		return err
	}
	content, err := io.ReadAll(j.file)
	if err != nil {
		return err
	}
	whole := int64(bytes.LastIndexByte(content, '\n') + 1)
	number := 0
	for line := range bytes.Lines(content[:whole]) {
		number++
		if number == 1 {
			if !bytes.Equal(bytes.TrimSpace(line), head) {
				return OtherPlan{path}
			}
			continue
		}
		var e entry
		if err := json.Unmarshal(line, &e); err != nil || len(e.Results) != len(e.Operations) {
			return fmt.Errorf("%s: line %d is not a run of a campaign", path, number)
		}
		j.done = append(j.done, e)
	}
	if _, err := j.file.Seek(whole, io.SeekStart); err != nil {
		return err
	}
	if err := j.file.Truncate(whole); err != nil || number > 0 {
		return err
	}
	_, err = j.file.Write(append(head, '\n'))
	return err
}

// Done is how many runs the journal has.
func (j *Journal) Done() int { return len(j.done) }

// Close closes the file.
func (j *Journal) Close() error { return j.file.Close() }

// has reports whether the journal has the next run.
func (j *Journal) has() bool { return j.next < len(j.done) }

// seconds are those of the runs up to now.
func (j *Journal) seconds() (sum float64) {
	for _, e := range j.done[:j.next] {
		sum += e.Seconds
	}
	return sum
}

// secondsOf is about what a run of so many operations takes, by the last one.
func (j *Journal) secondsOf(operations int) float64 {
	if j.next == 0 {
		return 0
	}
	last := &j.done[j.next-1]
	return last.Seconds / float64(max(len(last.Operations), 1)) * float64(operations)
}

// run gives the results of the next run, from the file if that has it.
func (j *Journal) run(all []kernel.Operation, stage string, measure func([]kernel.Operation) ([]kernel.Result, error)) ([]kernel.Result, error) {
	if j.has() {
		e := &j.done[j.next]
		if e.Stage != stage || !reflect.DeepEqual(e.Operations, all) {
			return nil, fmt.Errorf("run %d of the journal has other operations than the campaign: another version of mpitx wrote it", j.next+1)
		}
		j.next++
		return e.Results, nil
	}
	begin := time.Now()
	results, err := measure(all)
	if err != nil {
		return nil, err
	}
	if len(results) != len(all) {
		return nil, errors.New("a run has other results than operations")
	}
	e := entry{stage, time.Since(begin).Seconds(), all, results}
	j.done, j.next = append(j.done, e), j.next+1
	line, err := json.Marshal(e)
	if err != nil || j.file == nil {
		return results, err
	}
	_, err = j.file.Write(append(line, '\n'))
	return results, err
}
