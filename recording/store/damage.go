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

// Damage returns the parts that could not be read, each a *[DamageError] or a file system error: by file and place, then the others.
// Reading chains can add to it.
func (s *Store) Damage() []error {
	s.damageLock.Lock()
	defer s.damageLock.Unlock()
	slices.SortStableFunc(s.damage, func(a, b error) int {
		x, y := placeOf(a), placeOf(b)
		return cmp.Or(cmp.Compare(x.File, y.File), cmp.Compare(x.Offset, y.Offset))
	})
	if s.more > 0 {
		return append(slices.Clip(s.damage), fmt.Errorf("%d more damaged places", s.more))
	}
	return s.damage
}

// placeOf is where the damage is; of another error, after all files.
func placeOf(err error) *DamageError {
	if d, ok := err.(*DamageError); ok {
		return d
	}
	return &DamageError{File: "\xff"}
}

func (s *Store) isDamaged(f *dataFile) bool {
	return slices.ContainsFunc(s.damage, func(err error) bool {
		d, ok := err.(*DamageError)
		return ok && d.File == f.name()
	})
}

func (s *Store) damaged(err error) {
	s.damageLock.Lock()
	defer s.damageLock.Unlock()
	if len(s.damage) >= maxDamage {
		s.more++
		return
	}
	for _, e := range s.damage {
		if e.Error() == err.Error() {
			return
		}
	}
	s.damage = append(s.damage, err)
}

func (s *Store) damagedAt(f string, at int64, format string, args ...any) {
	s.damaged(&DamageError{f, at, fmt.Sprintf(format, args...)})
}
