package store

import "bytes"

// LeftOut counts processes of one rank that were not recorded because another process of that rank was.
type LeftOut struct {
	Rank, Count int
	Program     string // of the last of them
}

const (
	claimsFile = "claims"
	claimBytes = 32
	maxClaims  = 16 << 20 // ranks
	maxPID     = 1 << 22  // of Linux
)

// LeftOut returns the processes that were not recorded because another process of the same rank was.
func (s *Store) LeftOut() []LeftOut {
	text, _ := s.ReadFile(claimsFile, maxClaims*claimBytes)
	all, damaged := leftOut(text)
	if damaged >= 0 {
		s.Damaged(claimsFile, int64(damaged), "this is not the claim of a process")
	}
	return all
}

// leftOut reads claims. damaged is where the first one is that cannot be one; -1: nowhere.
func leftOut(text []byte) (all []LeftOut, damaged int) {
	damaged = -1
	for at := 0; at < len(text); at += claimBytes {
		claim := text[at:min(at+claimBytes, len(text))]
		whole := len(claim) == claimBytes && bytes.IndexByte(claim[8:], 0) >= 0
		if !whole || le.Uint32(claim) > maxPID || le.Uint32(claim) == 0 && le.Uint32(claim[4:]) > 0 {
			if damaged < 0 {
				damaged = at
			}
			continue
		}
		if n := le.Uint32(claim[4:]); n > 0 {
			name, _, _ := bytes.Cut(claim[8:], []byte{0})
			all = append(all, LeftOut{at / claimBytes, int(n), string(name)})
		}
	}
	return all, damaged
}
