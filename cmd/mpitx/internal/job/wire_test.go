package job

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mpitx/catalog"
	"mpitx/cmd/mpitx/internal/locate"
)

func TestFrames(t *testing.T) {
	var b bytes.Buffer
	sent := [][]byte{nil, {}, []byte("x"), bytes.Repeat([]byte{0, 1, 255}, 100_000)}
	for k, payload := range sent {
		if err := writeFrame(&b, byte('a'+k), payload); err != nil {
			t.Fatal(err)
		}
	}
	stream := b.Bytes()
	r := bytes.NewReader(stream)
	for k, payload := range sent {
		kind, got, err := readFrame(r)
		if err != nil || kind != byte('a'+k) || !bytes.Equal(got, payload) {
			t.Errorf("frame %d: kind %c, %d bytes, %v", k, kind, len(got), err)
		}
	}
	if _, _, err := readFrame(r); err != io.EOF {
		t.Errorf("the end between frames is %v, want io.EOF", err)
	}
	// Cut anywhere else, it is not io.EOF: that would be an orderly end.
	for _, n := range []int{1, 4, len(stream) - 1} {
		r := bytes.NewReader(stream[:n])
		var err error
		for err == nil {
			_, _, err = readFrame(r)
		}
		if n > 4 && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("cut after %d bytes: %v", n, err)
		}
	}
}

func TestFrameTooLong(t *testing.T) {
	if _, _, err := readFrame(strings.NewReader("P\xff\xff\xff\xff" + "rest")); err == nil || !strings.Contains(err.Error(), "4294967295") {
		t.Errorf("a frame of 4 GB: %v", err)
	}
}

// What is packed comes back: all fields of what crosses between processes, and ranks.
func TestPack(t *testing.T) {
	request := Request{Stage: After, MPI: locate.MPI{Family: "openmpi", Impl: "openmpi", Lib: "/lib/libmpi.so", Launcher: "/bin/mpirun"}, Shim: "/shim.so", Self: true,
		Launch: Launch{Rank: 3, Size: 4, Leader: true}, Before: true, Patience: 5, Limit: 7,
		Writes: []catalog.WriteRequest{{Name: "a", Text: "1,2", Ranks: []int{0, 2}, Force: true, DryRun: true}}}
	var got Request
	if err := unpack(pack(request), &got); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(request, got); d != "" {
		t.Error(d)
	}

	v := &catalog.Variable{Kind: catalog.Cvars, Name: "a", Type: catalog.TypeInt}
	value, err := catalog.ParseValue(v, nil, 2, "5,-6")
	if err != nil {
		t.Fatal(err)
	}
	answer := report{Host: "h", After: []byte{1}, Before: []byte{2}, Failed: "why",
		Outcomes: catalog.Outcomes{{Name: "a", Rank: 2, Host: "h", Old: value, New: value, Back: value, Result: catalog.WriteOK, Detail: "d"}}}
	var back report
	if err := unpack(pack(answer), &back); err != nil {
		t.Fatal(err)
	}
	if back.Outcomes[0].Old.String() != "5,-6" || back.Outcomes[0].Result != catalog.WriteOK || back.Failed != "why" || !bytes.Equal(back.Before, []byte{2}) {
		t.Errorf("%+v", back)
	}
}

// Damaged messages are errors.
func TestUnpackDamaged(t *testing.T) {
	whole := pack(result{Lost: map[int]string{1: "x"}, Hosts: map[int]string{0: "h"}})
	for n := range whole {
		var r result
		if err := unpack(whole[:n], &r); err == nil {
			t.Errorf("%d of %d bytes were taken for all", n, len(whole))
		}
	}
}

func FuzzFrames(f *testing.F) {
	f.Add([]byte("P\x03\x00\x00\x00abcq\x00\x00\x00\x00"))
	f.Add([]byte("r\xff\xff\xff\x00"))
	f.Add(pack(result{Lost: map[int]string{1: "x"}}))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := bytes.NewReader(data)
		for {
			kind, payload, err := readFrame(r)
			if err != nil {
				break
			}
			var again bytes.Buffer
			writeFrame(&again, kind, payload)
			if !bytes.Equal(again.Bytes()[5:], payload) {
				t.Fatal("the frame changed")
			}
			var x result
			unpack(payload, &x)
		}
	})
}

// Frames of all sizes come back as they were; a length that is too large costs little.
func TestFrameSizes(t *testing.T) {
	for _, n := range []int{0, 1, 1 << 20, 1<<20 + 1, 5<<20 + 3} {
		payload := bytes.Repeat([]byte("0123456789abcdefg"), n/17+1)[:n]
		var b bytes.Buffer
		if err := writeFrame(&b, 'x', payload); err != nil {
			t.Fatal(err)
		}
		kind, got, err := readFrame(&b)
		if err != nil || kind != 'x' || !bytes.Equal(got, payload) {
			t.Errorf("a frame of %d bytes came back as one of %d: %v", n, len(got), err)
		}
	}
	_, got, err := readFrame(bytes.NewReader([]byte("x\xff\xff\xff\x0fabc")))
	if err == nil || cap(got) > 2<<20 {
		t.Errorf("%d bytes for a frame of three: %v", cap(got), err)
	}
}
