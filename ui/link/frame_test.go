package link

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func items(t *testing.T, stream []byte) (messages []string, text string, damaged int) {
	t.Helper()
	var foreign strings.Builder
	r := NewReader(bytes.NewReader(stream))
	for {
		it, err := r.Next()
		if err == io.EOF {
			return messages, foreign.String(), damaged
		}
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case it.Damaged:
			damaged++
		case it.Message != nil:
			messages = append(messages, string(it.Message))
		default:
			foreign.WriteString(it.Text + "\n")
		}
	}
}

// samples are messages of all sizes, as one line, several, and deflated.
func samples() []string {
	noise := make([]byte, 50_000)
	rng := rand.New(rand.NewPCG(1, 2))
	for k := range noise {
		noise[k] = byte('a' + rng.IntN(26))
	}
	return []string{`{}`, `{"is":"phase","text":"MPI_Init"}`, strings.Repeat("x", perLine), strings.Repeat("y", perLine+1), strings.Repeat("long ", 100_000), string(noise), `{"z":1}`}
}

func stream(t *testing.T, messages []string) [][]byte {
	t.Helper()
	var lines lineWriter
	w := NewWriter(&lines)
	for _, m := range messages {
		if err := w.Write([]byte(m)); err != nil {
			t.Fatal(err)
		}
	}
	return lines
}

// lineWriter keeps each Write apart.
type lineWriter [][]byte

func (l *lineWriter) Write(p []byte) (int, error) {
	*l = append(*l, bytes.Clone(p))
	return len(p), nil
}

// Messages come through whatever is printed before, between and behind their lines, and through a terminal.
func TestForeignText(t *testing.T) {
	messages := samples()
	lines := stream(t, messages)
	for name, between := range map[string]string{
		"nothing": "", "a line": "library says hello\n", "half a line": "half", "a line of a terminal": "hello\r\n", "the beginning of our mark": "\x1empitx",
		"several": "one\ntwo\nthree", "binary": "\x00\xff\x1b[31m\n", "very long": strings.Repeat("0123456789", 1_000) + "\n", "empty lines": "\n\n\n",
	} {
		t.Run(name, func(t *testing.T) {
			var b []byte
			for _, l := range lines {
				b = append(append(b, between...), bytes.ReplaceAll(l, []byte("\n"), []byte("\r\n"))...)
			}
			b = append(b, between...)
			got, text, damaged := items(t, b)
			if !slices.Equal(got, messages) || damaged > 0 {
				t.Fatalf("%d messages of %d, %d damaged", len(got), len(messages), damaged)
			}
			flat := func(s string) string { return strings.NewReplacer("\n", "", "\r", "").Replace(s) }
			if flat(text) != strings.Repeat(flat(between), len(lines)+1) {
				t.Errorf("foreign text of %d characters became %d", len(flat(between))*(len(lines)+1), len(flat(text)))
			}
		})
	}
}

// Text printed into a line of ours, lines that are lost or come twice: that message is lost and said to be, the others are not.
func TestDamage(t *testing.T) {
	first, second, third := `{"n":1}`, strings.Repeat("0123456789abcdefghijklmnopqrstuvwxyz", 50), `{"n":3}`
	for name, spoil := range map[string]func([][]byte) []byte{
		"into a line":     func(l [][]byte) []byte { l[1] = slices.Insert(l[1], 60, []byte("oops")...); return bytes.Join(l, nil) },
		"into the head":   func(l [][]byte) []byte { l[1] = slices.Insert(l[1], 12, 'x'); return bytes.Join(l, nil) },
		"a line lost":     func(l [][]byte) []byte { return bytes.Join(slices.Delete(l, 1, 2), nil) },
		"the last lost":   func(l [][]byte) []byte { return bytes.Join(slices.Delete(l, len(l)-2, len(l)-1), nil) },
		"a line twice":    func(l [][]byte) []byte { return bytes.Join(slices.Insert(l, 1, l[1]), nil) },
		"a bit":           func(l [][]byte) []byte { l[1][70] ^= 1; return bytes.Join(l, nil) },
		"cut off":         func(l [][]byte) []byte { l[1] = append(l[1][:100], '\n'); return bytes.Join(l, nil) },
		"cut, no newline": func(l [][]byte) []byte { l[1] = l[1][:100]; return bytes.Join(l, nil) },
	} {
		t.Run(name, func(t *testing.T) {
			noisy := []byte(second)
			rand.New(rand.NewPCG(3, 4)).Shuffle(len(noisy), func(i, j int) { noisy[i], noisy[j] = noisy[j], noisy[i] })
			lines := stream(t, []string{first, string(noisy), third})
			if len(lines) < 4 {
				t.Fatalf("%d lines", len(lines))
			}
			got, _, damaged := items(t, spoil(lines))
			if damaged == 0 || got[0] != first || got[len(got)-1] != third && name != "the last lost" {
				t.Errorf("%d damaged, %q", damaged, got)
			}
			for _, m := range got {
				if m != first && m != third && m != string(noisy) {
					t.Errorf("made up: %q", m)
				}
			}
		})
	}
}

// No stream makes the reader panic, invent text, or lose what follows it.
func FuzzReader(f *testing.F) {
	var lines lineWriter
	w := NewWriter(&lines)
	w.Write([]byte(strings.Repeat("message ", 500)))
	w.Write([]byte(`{}`))
	f.Add(bytes.Join(lines, nil))
	f.Add([]byte("text\n" + magic + "00000000 = 0000 00000000 \n"))
	f.Add([]byte(magic + magic + "00000000 < ffff 00000000 "))
	f.Add([]byte(magic + "00000000 = 0004 " + fmt.Sprintf("%08x", sum("00000000 = 0004", "eg==")) + " eg==\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		r := NewReader(bytes.NewReader(append(b, '\n')))
		total := 0
		for {
			it, err := r.Next()
			if err != nil {
				break
			}
			if it.Message == nil {
				total += len(it.Text)
			}
		}
		if total > len(b) {
			t.Errorf("%d characters of text from %d", total, len(b))
		}
		// What comes behind it on a line of its own arrives, once the sequence is found again.
		tail := NewReader(io.MultiReader(bytes.NewReader(append(b, '\n')), bytes.NewReader(appendLine(nil, 0xfffffff0, []byte("resync"), true, true)),
			bytes.NewReader(appendLine(nil, 0xfffffff1, []byte("last"), true, true))))
		last := ""
		for {
			it, err := tail.Next()
			if err != nil {
				break
			}
			if it.Message != nil {
				last = string(it.Message)
			}
		}
		if last != "last" {
			t.Errorf("the message behind it came as %q", last)
		}
	})
}

func BenchmarkReader(b *testing.B) {
	var lines lineWriter
	w := NewWriter(&lines)
	noise := make([]byte, 1<<20)
	rng := rand.New(rand.NewPCG(1, 2))
	for k := range noise {
		noise[k] = byte(rng.IntN(256))
	}
	w.Write(noise)
	all := bytes.Join(lines, nil)
	b.SetBytes(int64(len(noise)))
	for b.Loop() {
		r := NewReader(bytes.NewReader(all))
		if _, err := r.Next(); err != nil {
			b.Fatal(err)
		}
	}
}
