package store

import (
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

// Damage returns the parts that could not be read, each a *[DamageError] or a file system error. Reading chains can add to it.
func (s *Store) Damage() []error {
	if s.more > 0 {
		return append(slices.Clip(s.damage), fmt.Errorf("%d more damaged places", s.more))
	}
	return s.damage
}

func (s *Store) isDamaged(f *dataFile) bool {
	return slices.ContainsFunc(s.damage, func(err error) bool {
		d, ok := err.(*DamageError)
		return ok && d.File == f.name()
	})
}

func (s *Store) damaged(err error) {
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
