package store

import (
	"bytes"
	"io"
	"path/filepath"
)

// LeftOut counts processes of one rank that were not recorded because another process of that rank was.
type LeftOut struct {
	Rank, Count int
	Program     string // of the last of them
}

const (
	claimBytes = 32
	maxClaims  = 16 << 20 // ranks
)

// LeftOut returns the processes that were not recorded because another process of the same rank was.
func (s *Store) LeftOut() []LeftOut {
	h, err := openRegular(filepath.Join(s.Dir, "claims"))
	if err != nil {
		return nil
	}
	defer h.Close()
	text, _ := io.ReadAll(io.LimitReader(h, maxClaims*claimBytes))
	return leftOut(text)
}

func leftOut(text []byte) (all []LeftOut) {
	for rank := 0; len(text) >= claimBytes; rank, text = rank+1, text[claimBytes:] {
		if n := le.Uint32(text[4:]); n > 0 {
			name, _, _ := bytes.Cut(text[8:claimBytes], []byte{0})
			all = append(all, LeftOut{rank, int(n), string(name)})
		}
	}
	return all
}
