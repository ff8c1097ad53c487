package store

import (
	"slices"
	"testing"

	"mpitx/fixtures/mutate"
)

// claims encodes a claims file.
func claims(all []LeftOut) (b []byte) {
	for _, l := range all {
		for len(b) < (l.Rank+1)*claimBytes {
			b = append(b, make([]byte, claimBytes)...)
		}
		claim := b[l.Rank*claimBytes:]
		le.PutUint32(claim, 4711)
		le.PutUint32(claim[4:], uint32(l.Count))
		copy(claim[8:], l.Program)
	}
	return b
}

// An input is edits of a claims file. Its processes are read again from a file that claims encodes.
func FuzzClaims(f *testing.F) {
	small := claims([]LeftOut{{0, 1, "python3"}, {2, 300, "a name of 23 characters"}, {3, 1 << 31, ""}})
	f.Add([]byte{})
	f.Add([]byte("\x02\x04\x00\x03\x00"))
	f.Add([]byte("\x05\x20\x00\x1f\x00"))
	f.Add([]byte("\x00\x1f\x00\x41\x00"))
	f.Fuzz(func(t *testing.T, script []byte) {
		b := mutate.Bytes(small, script)
		all, damaged := leftOut(b)
		if damaged >= len(b) {
			t.Errorf("damaged at %d of %d bytes", damaged, len(b))
		}
		for _, l := range all {
			if l.Count < 1 || l.Rank >= len(b)/claimBytes || len(l.Program) > claimBytes-8 {
				t.Errorf("%+v of %d bytes", l, len(b))
			}
		}
		if again, damaged := leftOut(claims(all)); !slices.Equal(again, all) || damaged >= 0 {
			t.Errorf("%+v, read again: %+v, damaged at %d", all, again, damaged)
		}
	})
}

func FuzzManifest(f *testing.F) {
	m := append([]byte(manifestMagic), make([]byte, manifestHead-8)...)
	le.PutUint16(m[8:], 1)
	le.PutUint16(m[10:], manifestHead)
	le.PutUint32(m[64:], 1)
	le.PutUint32(m[68:], 4)
	m = append(m, "hpath"...)
	le.PutUint32(m[12:], uint32(len(m)))
	f.Add(m)
	f.Fuzz(func(t *testing.T, b []byte) {
		if m, err := parseManifest(b); err == nil && len(m.host)+len(m.path) > len(b) {
			t.Error(m)
		}
		parseLive(b)
	})
}
