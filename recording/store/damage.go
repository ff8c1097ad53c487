package store

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// DamageError is a part of a run that cannot be read. Everything before it, and all intact chunks after it, are read.
type DamageError struct {
	File   string
	Offset int64
	Reason string
}

// Newer reports whether all of the file has a newer format.
func (e *DamageError) Newer() bool { return e.Offset == 0 && strings.HasPrefix(e.Reason, versionText) }

func (e *DamageError) Error() string {
	if e.Newer() {
		return e.File + ": " + e.Reason
	}
	return fmt.Sprintf("%s: damaged at byte %d: %s", e.File, e.Offset, e.Reason)
}

const maxDamage = 1000

// Damage returns the parts that could not be read, each a *[DamageError] or a file system error: those that reading chains has met come last,
// by file and place.
func (s *Store) Damage() []error {
	s.reading.Lock()
	defer s.reading.Unlock()
	slices.SortStableFunc(s.met, func(a, b error) int {
		x, y := placeOf(a), placeOf(b)
		return cmp.Or(cmp.Compare(x.File, y.File), cmp.Compare(x.Offset, y.Offset))
	})
	all := slices.Concat(s.damage, s.met)
	if s.more > 0 {
		all = append(all, fmt.Errorf("%d more damaged places", s.more))
	}
	return all
}

// placeOf is where the damage is; of another error, after all files.
func placeOf(err error) *DamageError {
	if d, ok := err.(*DamageError); ok {
		return d
	}
	return &DamageError{File: "\xff"}
}

func (s *Store) isDamaged(f *dataFile) bool {
	return slices.ContainsFunc(slices.Concat(s.damage, s.met), func(err error) bool {
		d, ok := err.(*DamageError)
		return ok && d.File == f.name()
	})
}

func (s *Store) damaged(err error) { s.damage = s.with(s.damage, err) }

// meet notes damage that a cursor has met. Several goroutines may call it.
func (s *Store) meet(err error) {
	s.reading.Lock()
	defer s.reading.Unlock()
	s.met = s.with(s.met, err)
}

// with adds damage to a list unless it is known.
func (s *Store) with(all []error, err error) []error {
	if len(s.damage)+len(s.met) >= maxDamage {
		s.more++
		return all
	}
	for _, known := range [][]error{s.damage, s.met} {
		for _, e := range known {
			if e.Error() == err.Error() {
				return all
			}
		}
	}
	return append(all, err)
}

func (s *Store) damagedAt(f string, at int64, format string, args ...any) {
	s.damaged(&DamageError{f, at, fmt.Sprintf(format, args...)})
}
