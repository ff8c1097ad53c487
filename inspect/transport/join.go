//go:build linux

package transport

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"
)

// How the fronts of other ranks connect to rank 0's front. The invitation, with a secret, reaches them over MPI. Each
// side proves that it has the secret without sending it. Another program that listens at one of the addresses, or
// connects to them, learns nothing, and cannot relay the messages, because the address is part of the proof.

// JoinLimit is how long rank 0 waits for the other ranks' fronts.
const JoinLimit = 5 * time.Second

const (
	secretSize = 32
	maxJoin    = 4096 // bytes read from a peer before it is authenticated
)

// Invitation is what rank 0's front sends to the others, through the back ends.
type Invitation struct {
	Addresses []string // of rank 0's front
	Secret    [secretSize]byte
}

// Joining is the first message of a front that connects.
type Joining struct {
	Rank    int
	Host    string
	Address string // at which it found rank 0's front
	Nonce   [secretSize]byte
	Proof   [sha256.Size]byte
}

// proof shows, for one connection, that its sender has the secret: nonces are new for each connection.
func (inv *Invitation) proof(by string, root, other [secretSize]byte, j *Joining) (out [sha256.Size]byte) {
	h := hmac.New(sha256.New, inv.Secret[:])
	for _, part := range [][]byte{[]byte(by), root[:], other[:], binary.LittleEndian.AppendUint64(nil, uint64(j.Rank)), []byte(j.Host), []byte(j.Address)} {
		h.Write(binary.LittleEndian.AppendUint32(nil, uint32(len(part))))
		h.Write(part)
	}
	h.Sum(out[:0])
	return out
}

// Listen opens the socket that other ranks' fronts connect to. For a job on one node it accepts local connections only.
func Listen(oneNode bool) (net.Listener, Invitation, error) {
	var inv Invitation
	rand.Read(inv.Secret[:]) // does not fail
	at := ":0"
	if oneNode {
		at = "127.0.0.1:0"
	}
	l, err := net.Listen("tcp", at)
	if err != nil {
		return nil, inv, fmt.Errorf("listen for the other ranks: %w", err)
	}
	if oneNode {
		inv.Addresses = []string{l.Addr().String()}
		return l, inv, nil
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	addresses, _ := net.InterfaceAddrs()
	for _, a := range addresses {
		if n, ok := a.(*net.IPNet); ok && !n.IP.IsLinkLocalUnicast() && !n.IP.IsLoopback() {
			inv.Addresses = append(inv.Addresses, net.JoinHostPort(n.IP.String(), port))
		}
	}
	if len(inv.Addresses) == 0 { // several nodes that are one
		inv.Addresses = []string{"127.0.0.1:" + port}
	}
	return l, inv, nil
}

// Admit accepts the connection of a rank of the job, and no other. It fails for a connection that does not show the
// secret within JoinLimit; the caller closes it.
func (inv *Invitation) Admit(c net.Conn, size int) (j Joining, err error) {
	c.SetDeadline(time.Now().Add(JoinLimit))
	var nonce [secretSize]byte
	rand.Read(nonce[:])
	if _, err := c.Write(nonce[:]); err != nil {
		return j, err
	}
	f, err := readFrameUpTo(c, maxJoin)
	if err != nil {
		return j, err
	}
	if f.Kind != FrameHello || Unpack(f.Payload, &j) != nil || j.Rank <= 0 || j.Rank >= size || j.Address != plainAddress(c.LocalAddr()) {
		return j, errors.New("not a process of this job")
	}
	want := inv.proof("rank", nonce, j.Nonce, &j)
	if !hmac.Equal(want[:], j.Proof[:]) {
		return j, errors.New("it has the wrong secret")
	}
	welcome := inv.proof("root", nonce, j.Nonce, &j)
	if _, err := c.Write(welcome[:]); err != nil {
		return j, err
	}
	return j, c.SetDeadline(time.Time{})
}

// plainAddress is an address as invitations spell it: sockets for both IP versions show IPv4 addresses as IPv6.
func plainAddress(a net.Addr) string {
	if t, ok := a.(*net.TCPAddr); ok {
		return net.JoinHostPort(t.IP.String(), fmt.Sprint(t.Port))
	}
	return a.String()
}

// Join accepts an invitation. It tries all addresses at once, because those of other networks may not answer. The error
// has the reason for each address.
func Join(inv Invitation, rank int, host string) (net.Conn, error) {
	type dialled struct {
		c       net.Conn
		address string
		err     error
	}
	found := make(chan dialled, len(inv.Addresses))
	end := time.Now().Add(JoinLimit - time.Second) // before rank 0 gives up
	for _, a := range inv.Addresses {
		go func() {
			d := net.Dialer{Deadline: end}
			c, err := d.Dial("tcp", a)
			found <- dialled{c, a, err}
		}()
	}
	var whys []string
	for k := range inv.Addresses {
		d := <-found
		if d.err == nil {
			if d.err = inv.enter(d.c, end, Joining{Rank: rank, Host: host, Address: d.address}); d.err == nil {
				go func() { // the others come to nothing
					for range len(inv.Addresses) - k - 1 {
						if d := <-found; d.err == nil {
							d.c.Close()
						}
					}
				}()
				return d.c, nil
			}
			d.c.Close()
		}
		whys = append(whys, d.address+": "+shortError(d.err))
	}
	return nil, fmt.Errorf("reach rank 0's process over TCP (%s): make its node reachable from this one, or run the ranks on one node", strings.Join(whys, "; "))
}

// enter is Join's counterpart of Admit.
func (inv *Invitation) enter(c net.Conn, end time.Time, j Joining) error {
	c.SetDeadline(end)
	var nonce [secretSize]byte
	var welcome [sha256.Size]byte
	if err := fill(c, nonce[:]); err != nil {
		return err
	}
	rand.Read(j.Nonce[:])
	j.Proof = inv.proof("rank", nonce, j.Nonce, &j)
	if err := WriteFrame(c, FrameHello, Pack(j)); err != nil {
		return err
	}
	if err := fill(c, welcome[:]); err != nil {
		return err
	}
	if want := inv.proof("root", nonce, j.Nonce, &j); !hmac.Equal(want[:], welcome[:]) {
		return errors.New("another program answers there")
	}
	return c.SetDeadline(time.Time{})
}

// shortError leaves out what the address says already.
func shortError(err error) string {
	var op *net.OpError
	if errors.As(err, &op) {
		err = op.Err
	}
	text := err.Error()
	return strings.TrimPrefix(text, "connect: ")
}

func fill(c net.Conn, b []byte) error {
	_, err := io.ReadFull(c, b)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return errors.New("it ended the connection")
	}
	return err
}
