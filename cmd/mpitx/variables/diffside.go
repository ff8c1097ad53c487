package variables

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"mpitx/catalog"
	"mpitx/catalog/diff"
	"mpitx/catalog/ompiinfo"
	"mpitx/cmd/mpitx/cli"
	"mpitx/machine"
)

// operand is an argument of diff.
type operand struct {
	text string
	live bool   // mpi:NAME
	mpi  string // NAME
	file string // "-": standard input; "": the job of --from or a live one
	rank int    // -1: all
	node string // "": all
}

// parseOperand parses FILE, -, mpi:NAME, rank:N[@FILE] or node:HOST[@FILE].
func parseOperand(text string) (operand, error) {
	p := operand{text: text, rank: -1}
	kind, rest, colon := strings.Cut(text, ":")
	if !colon {
		p.file = text
		return p, nil
	}
	part, file, at := strings.Cut(rest, "@")
	if at && file == "" && (kind == "rank" || kind == "node") {
		return p, cli.Usagef("%s: name a snapshot after @, or leave @ out", text)
	}
	switch kind {
	case "mpi":
		p.live, p.mpi = true, rest
	case "rank":
		n, err := strconv.Atoi(part)
		if err != nil || n < 0 {
			return p, cli.Usagef("%s: name a rank, such as rank:0", text)
		}
		p.rank, p.file = n, file
	case "node":
		if part == "" {
			return p, cli.Usagef("%s: name a host, such as node:n1", text)
		}
		p.node, p.file = part, file
	default:
		p.file = text
	}
	return p, nil
}

// ofJob reports whether the operand is a part of the job of --from, or of a live one.
func (p *operand) ofJob() bool { return !p.live && p.file == "" }

// checkOperands refuses what cannot work together.
func (o *diffOptions) checkOperands(p [2]operand) error {
	job, live := p[0].ofJob() || p[1].ofJob(), 0
	for _, x := range p {
		if x.live || x.ofJob() && o.from == "" {
			live++
		}
	}
	if p[0].ofJob() && p[1].ofJob() {
		live = min(live, 1) // the same job
	}
	switch {
	case p[0].file == "-" && p[1].file == "-", o.from == "-" && job && (p[0].file == "-" || p[1].file == "-"):
		return cli.Usagef("diff: only one side can be standard input; name a file for the other")
	case o.from != "" && !job:
		return cli.Usagef("--from: only rank:N and node:HOST refer to it; name the file as A or B")
	case o.n > 0 && live == 0:
		return cli.Usagef("-n: both sides are files; leave -n out")
	case o.mpi != "" && live == 0:
		return cli.Usagef("--mpi: both sides are files; leave --mpi out")
	case live == 2 && o.a.Env.Launcher().Rank >= 0:
		return cli.Usagef("diff: under %s only one side can be live; write a snapshot of the other (mpitx snapshot --out FILE)", o.a.Env.Launcher().Command())
	}
	return nil
}

// open reads a side.
func (o *diffOptions) open(p operand) (s diff.Side, err error) {
	s.Name = p.text
	switch {
	case p.live:
		if s.Catalog, err = o.snapshot(p.mpi); err == nil {
			s.Unsteady, err = o.unsteady(s.Catalog, p.mpi)
		}
	case p.ofJob() && o.job != nil:
		s.Catalog = o.job
	case p.ofJob() && o.from == "":
		s.Catalog, err = o.snapshot("")
		o.job = s.Catalog
	case p.ofJob():
		s, err = o.load(p.text, o.from)
		o.job = s.Catalog
	default:
		s, err = o.load(p.text, p.file)
	}
	if err != nil {
		return s, err
	}
	switch {
	case p.rank >= 0:
		s.Catalog, err = catalog.OnRank(s.Catalog, p.rank)
	case p.node != "":
		s.Catalog, err = catalog.OnNode(s.Catalog, p.node)
	}
	if err != nil {
		err = cli.Failf("%s: %v", p.text, err)
	}
	return s, err
}

// load reads a snapshot or the output of ompi_info.
func (o *diffOptions) load(name, file string) (s diff.Side, err error) {
	s.Name = name
	if o.a.Env.Launcher().Rank > 0 {
		return s, cli.ErrFollower
	}
	text, err := cli.ReadUpTo(file, catalog.MaxFileSize+1)
	switch {
	case len(text) > catalog.MaxFileSize:
		return s, cli.Failf("%s: larger than %d MiB; name a snapshot or the output of ompi_info --parsable --all", file, catalog.MaxFileSize>>20)
	case errors.Is(err, fs.ErrNotExist) && slices.Contains(machine.Families, file):
		return s, cli.Failf("%s: there is no such file; name the library as mpi:%s", file, file)
	case errors.Is(err, fs.ErrNotExist):
		return s, cli.Failf("%s: there is no such file; write one with mpitx snapshot --out FILE, or name a live library: mpi:NAME", file)
	case err != nil:
		return s, cli.Failf("read %s: %v", file, machine.Cause(err))
	}
	if file == "-" {
		file = "standard input"
	}
	if ompiinfo.Recognize(text) {
		s.Partial = true
		if s.Catalog, err = ompiinfo.Read(bytes.NewReader(text)); err != nil {
			err = cli.Failf("%s: %v", file, err)
		}
		return s, err
	}
	if first := bytes.TrimLeft(bytes.TrimPrefix(text, []byte("\ufeff")), " \t\r\n"); len(first) > 0 && first[0] != '{' {
		return s, cli.Failf("%s: neither a snapshot nor the output of ompi_info --parsable --all", file)
	}
	s.Catalog, err = catalog.Read(bytes.NewReader(text))
	var re *catalog.ReadError
	if errors.As(err, &re) {
		re.File = file
	}
	if err != nil {
		err = cli.Failf("read snapshot: %v", err)
	}
	return s, err
}

// unsteady reads a live library again and finds the values that are different in every process. glibc fills new memory for that
// process, because uninitialized memory can be equal by chance. Under a launcher, a process can initialize MPI only once.
func (o *diffOptions) unsteady(c *catalog.Catalog, mpi string) (map[string]bool, error) {
	if o.a.Env.Launcher().Rank >= 0 {
		return nil, nil
	}
	quiet := *o.a
	quiet.Errs = io.Discard
	again, _, err := (&cli.Source{App: &quiet, MPI: cmp.Or(mpi, o.mpi), Timeout: o.timeout, N: o.n, Environ: []string{"MALLOC_PERTURB_=165"}}).Snapshot(o.cmd)
	var ended *cli.ExitError
	switch {
	case errors.As(err, &ended) && ended.Code > 128: // by a signal
		return nil, err
	case err != nil:
		return nil, nil
	}
	return diff.Unsteady(c, again), nil
}

// snapshot reads a live library. Its processes are not this one, which so can read two.
func (o *diffOptions) snapshot(mpi string) (*catalog.Catalog, error) {
	c, whole, err := (&cli.Source{App: o.a, MPI: cmp.Or(mpi, o.mpi), Timeout: o.timeout, N: o.n}).Snapshot(o.cmd)
	if name := "mpi:" + cmp.Or(mpi, o.mpi); err == nil && !whole && !slices.Contains(o.partial, name) {
		o.partial = append(o.partial, name)
	}
	return c, err
}
