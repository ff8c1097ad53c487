//go:build linux

package transport

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"
)

// gate is rank 0's side of a job of four ranks; it reports the ranks that were admitted.
func gate(t *testing.T, oneNode bool) (Invitation, <-chan string) {
	t.Helper()
	l, inv, err := Listen(oneNode)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	reports := make(chan string, 16)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				j, err := inv.Admit(c, 4)
				if err != nil {
					reports <- err.Error()
					return
				}
				reports <- "welcome " + j.Host
				io.Copy(io.Discard, c)
			}()
		}
	}()
	return inv, reports
}

func next(t *testing.T, reports <-chan string) string {
	t.Helper()
	select {
	case text := <-reports:
		return text
	case <-time.After(time.Minute):
		t.Fatal("nothing was heard")
	}
	return ""
}

func TestJoin(t *testing.T) {
	for _, oneNode := range []bool{true, false} {
		inv, reports := gate(t, oneNode)
		for _, a := range inv.Addresses {
			host, _, _ := net.SplitHostPort(a)
			if ip := net.ParseIP(host); ip == nil || oneNode != ip.IsLoopback() && (oneNode || len(inv.Addresses) > 1) {
				t.Errorf("one node: %v, and %s is listened to", oneNode, a)
			}
		}
		c, err := Join(inv, 3, "there")
		if err != nil {
			t.Fatal(err)
		}
		for next(t, reports) != "welcome there" { // after failed connections to other addresses
		}
		c.Close()
	}
}

// A process outside of the job is rejected, whatever it sends, and delays no rank.
func TestStrangers(t *testing.T) {
	inv, reports := gate(t, true)
	other, _ := gate(t, true)
	connect := func() net.Conn {
		c, err := net.Dial("tcp", inv.Addresses[0])
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c
	}
	connect() // says nothing
	huge := connect()
	huge.Write(append([]byte{FrameHello}, binary.LittleEndian.AppendUint32(nil, 1<<29)...))
	if got := next(t, reports); !strings.Contains(got, "frame of") {
		t.Errorf("a large frame: %s", got)
	}
	stranger := inv
	stranger.Secret = other.Secret
	if _, err := Join(stranger, 1, "there"); err == nil || !strings.Contains(err.Error(), inv.Addresses[0]+": it ended the connection") {
		t.Errorf("another secret: %v", err)
	}
	if got := next(t, reports); !strings.Contains(got, "secret") {
		t.Error(got)
	}
	for _, rank := range []int{-1, 0, 4} {
		if _, err := Join(inv, rank, "there"); err == nil {
			t.Errorf("rank %d was let in", rank)
		}
		next(t, reports)
	}
	// The messages of a front are useless to an eavesdropper, on another connection.
	var said bytes.Buffer
	j := Joining{Rank: 1, Host: "there", Address: inv.Addresses[0]}
	if err := inv.enter(overheard{connect(), &said}, time.Now().Add(time.Minute), j); err != nil {
		t.Fatal(err)
	}
	if got := next(t, reports); got != "welcome there" {
		t.Error(got)
	}
	connect().Write(said.Bytes())
	if got := next(t, reports); !strings.Contains(got, "secret") {
		t.Errorf("said again: %s", got)
	}
	// They are also useless if they are relayed from another address.
	relay, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer relay.Close()
	passed := make(chan struct{})
	go func() {
		defer close(passed)
		c, err := relay.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		to := connect()
		go func() { io.Copy(c, to); c.Close() }()
		io.Copy(to, c)
	}()
	misled := inv
	misled.Addresses = []string{relay.Addr().String()}
	if _, err := Join(misled, 1, "there"); err == nil {
		t.Error("a front trusts who passes on what it says")
	}
	<-passed
	if got := next(t, reports); !strings.Contains(got, "not a process of this job") {
		t.Errorf("rank 0 trusts who passes on what a front says: %s", got)
	}
	if c, err := Join(inv, 1, "there"); err != nil {
		t.Error(err)
	} else if got := next(t, reports); got != "welcome there" {
		t.Error(got)
	} else {
		c.Close()
	}
}

// overheard is a connection with an eavesdropper.
type overheard struct {
	net.Conn
	said *bytes.Buffer
}

func (o overheard) Write(b []byte) (int, error) {
	o.said.Write(b)
	return o.Conn.Write(b)
}

// If another process listens at an address, the secret is not sent, and another address is used.
func TestJoinElsewhere(t *testing.T) {
	inv, _ := gate(t, true)
	liar, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer liar.Close()
	got := make(chan []byte, 4)
	go func() {
		for {
			c, err := liar.Accept()
			if err != nil {
				return
			}
			c.Write(make([]byte, secretSize))
			b := make([]byte, maxJoin)
			n, _ := c.Read(b)
			got <- b[:n]
			c.Write(make([]byte, secretSize))
		}
	}()
	free, err := net.Listen("tcp", "127.0.0.1:0") // without a listener
	if err != nil {
		t.Fatal(err)
	}
	nobody := free.Addr().String()
	free.Close()
	inv.Addresses = []string{liar.Addr().String(), nobody, inv.Addresses[0]}
	c, err := Join(inv, 1, "there")
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	inv.Addresses = inv.Addresses[:2]
	if _, err = Join(inv, 1, "there"); err == nil {
		t.Fatal("it joined a stranger")
	}
	for _, want := range []string{liar.Addr().String() + ": another program answers there", nobody + ": connection refused"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in %v", want, err)
		}
	}
	b := <-got
	for len(b) == 0 { // a failed connection
		b = <-got
	}
	if slices.ContainsFunc([][]byte{inv.Secret[:], inv.Secret[:8]}, func(part []byte) bool { return bytes.Contains(b, part) }) {
		t.Errorf("a stranger was sent %q", b)
	}
}
