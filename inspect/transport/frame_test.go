package transport

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestFrames(t *testing.T) {
	var b bytes.Buffer
	sent := [][]byte{nil, {}, []byte("x"), bytes.Repeat([]byte{0, 1, 255}, 100_000)}
	for k, payload := range sent {
		if err := WriteFrame(&b, byte('a'+k), payload); err != nil {
			t.Fatal(err)
		}
	}
	stream := b.Bytes()
	r := bytes.NewReader(stream)
	for k, payload := range sent {
		got, err := ReadFrame(r)
		if err != nil || got.Kind != byte('a'+k) || !bytes.Equal(got.Payload, payload) {
			t.Errorf("frame %d: kind %c, %d bytes, %v", k, got.Kind, len(got.Payload), err)
		}
	}
	if _, err := ReadFrame(r); err != io.EOF {
		t.Errorf("the end between frames is %v, want io.EOF", err)
	}
	// Cut anywhere else, the error is not io.EOF, which would be a regular end.
	for _, n := range []int{1, 4, len(stream) - 1} {
		r := bytes.NewReader(stream[:n])
		var err error
		for err == nil {
			_, err = ReadFrame(r)
		}
		if n > 4 && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("cut after %d bytes: %v", n, err)
		}
	}
}

func TestFrameTooLong(t *testing.T) {
	if _, err := ReadFrame(strings.NewReader("P\xff\xff\xff\xff" + "rest")); err == nil || !strings.Contains(err.Error(), "4294967295") {
		t.Errorf("a frame of 4 GB: %v", err)
	}
}

// Damaged messages are errors.
func TestUnpackDamaged(t *testing.T) {
	whole := Pack(sample)
	for n := range whole {
		var r map[int]string
		if err := Unpack(whole[:n], &r); err == nil {
			t.Errorf("%d of %d bytes were taken for all", n, len(whole))
		}
	}
	var r map[int]string
	if err := Unpack(whole, &r); err != nil || r[1] != "x" {
		t.Errorf("%v %v", r, err)
	}
}

var sample = map[int]string{1: "x", 2: "yz"}

func FuzzFrames(f *testing.F) {
	f.Add([]byte("P\x03\x00\x00\x00abcq\x00\x00\x00\x00"))
	f.Add([]byte("r\xff\xff\xff\x00"))
	f.Add(Pack(sample))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := bytes.NewReader(data)
		for {
			got, err := ReadFrame(r)
			if err != nil {
				break
			}
			var again bytes.Buffer
			WriteFrame(&again, got.Kind, got.Payload)
			if !bytes.Equal(again.Bytes()[5:], got.Payload) {
				t.Fatal("the frame changed")
			}
			var x map[int]string
			Unpack(got.Payload, &x)
		}
	})
}

// Frames of all sizes survive. A length that is too large does not allocate much.
func TestFrameSizes(t *testing.T) {
	for _, n := range []int{0, 1, 1 << 20, 1<<20 + 1, 5<<20 + 3} {
		payload := bytes.Repeat([]byte("0123456789abcdefg"), n/17+1)[:n]
		var b bytes.Buffer
		if err := WriteFrame(&b, 'x', payload); err != nil {
			t.Fatal(err)
		}
		got, err := ReadFrame(&b)
		if err != nil || got.Kind != 'x' || !bytes.Equal(got.Payload, payload) {
			t.Errorf("a frame of %d bytes came back as one of %d: %v", n, len(got.Payload), err)
		}
	}
	got, err := ReadFrame(bytes.NewReader([]byte("x\xff\xff\xff\x0fabc")))
	if err == nil || cap(got.Payload) > 2<<20 {
		t.Errorf("%d bytes for a frame of three: %v", cap(got.Payload), err)
	}
}
