package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// Version is the version of the format that this package reads.
const Version = 1

const (
	chunkMagic    = "\x01PXCHNK1"
	liveMagic     = "\x01MPXIVE1"
	manifestMagic = "\x01PXMANI1"

	chunkHead    = 88
	liveHead     = 4096 // a live file's head; its slots follow
	liveFixed    = 56   // offset of the counters in it
	liveOwner    = 1024 // offset of the owner in it
	ownerHead    = 24
	manifestHead = 80
	manifestBoot = 40 // bytes of the machine's boot identifier, which follows in newer manifests

	maxCapacity = 1 << 20
	maxManifest = 1 << 16
	maxSlots    = 1024
)

// Kinds of chunks. Chunks of the exported kinds form chains.
const (
	kindMeta    = 1
	KindSamples = 2
	kindLast    = 3 // last values
	KindEvents  = 4
	KindTable   = 5

	slotFree   = 0
	slotOpen   = 1
	slotSealed = 2
)

var (
	le      = binary.LittleEndian
	noBytes [4]byte
)

// update continues a checksum. The table is made at the first call, as most commands read no run.
func update(sum uint32, b []byte) uint32 {
	return crc32.Update(sum, crc32.MakeTable(crc32.Castagnoli), b)
}

var errMagic = errors.New("no chunk begins here")

// chunk is a chunk's head.
type chunk struct {
	headBytes   int
	kind        uint8
	chain       uint16
	runID       [16]byte
	stream      uint64
	sequence    uint64
	rank        int32
	capacity    uint32
	used        uint32
	state       uint32
	first, last uint64
	records     uint32
	crc         uint32
}

// size is the number of bytes that the chunk takes in a file.
func (c *chunk) size() int64 { return int64(c.headBytes) + int64(c.used) }

const versionText = "format version "

// OtherVersion says that a file has another version than the one that is read.
func OtherVersion(v, read int) error {
	return fmt.Errorf(versionText+"%d: this mpitx reads version %d; use the mpitx that recorded the run", v, read)
}

// parseChunk decodes a chunk's head. errMagic means that there is no chunk; any other error, a damaged one.
func parseChunk(b []byte) (c chunk, err error) {
	if len(b) < chunkHead || string(b[:8]) != chunkMagic {
		return c, errMagic
	}
	if v := le.Uint16(b[8:]); v != Version {
		return c, OtherVersion(int(v), Version)
	}
	c = chunk{
		headBytes: int(le.Uint16(b[10:])), kind: b[12], chain: le.Uint16(b[14:]), stream: le.Uint64(b[32:]), sequence: le.Uint64(b[40:]),
		rank: int32(le.Uint32(b[48:])), capacity: le.Uint32(b[52:]), used: le.Uint32(b[56:]), state: le.Uint32(b[60:]),
		first: le.Uint64(b[64:]), last: le.Uint64(b[72:]), records: le.Uint32(b[80:]), crc: le.Uint32(b[84:]),
	}
	copy(c.runID[:], b[16:])
	switch {
	case c.headBytes < chunkHead || c.headBytes > liveHead || c.headBytes%8 != 0:
		return c, fmt.Errorf("a chunk's head has %d bytes", c.headBytes)
	case c.capacity > maxCapacity || c.used > c.capacity || c.used%8 != 0:
		return c, fmt.Errorf("a chunk uses %d of %d bytes", c.used, c.capacity)
	case c.sequence == 0 || c.state > slotSealed:
		return c, fmt.Errorf("a chunk has number %d and state %d", c.sequence, c.state)
	}
	return c, nil
}

// checksum starts a chunk's checksum with its head. The records follow.
func checksum(head []byte) uint32 {
	sum := update(0, head[:84])
	sum = update(sum, noBytes[:])
	return update(sum, head[88:])
}

// sealChunk completes a chunk as its writer would have.
func sealChunk(b []byte, c *chunk, used uint32, last uint64, records uint32) {
	le.PutUint32(b[56:], used)
	le.PutUint32(b[60:], slotSealed)
	le.PutUint64(b[72:], last)
	le.PutUint32(b[80:], records)
	le.PutUint32(b[84:], 0)
	sum := update(checksum(b[:c.headBytes]), b[c.headBytes:c.headBytes+int(used)])
	le.PutUint32(b[84:], sum)
}

// NumCounters is the number of counters of a process.
const NumCounters = 19

// The counters of rows that were dropped.
const (
	lostFull   = 3
	overBudget = 4
)

// live is a live file's head.
type live struct {
	chunkBytes int
	runID      [16]byte
	stream     uint64
	rank       int32
	pid        int
	slots      int
	ended      bool
	counters   [NumCounters]uint64
}

var errNotLive = errors.New("not a live file of mpitx")

func parseLive(b []byte) (l live, err error) {
	switch {
	case len(b) < liveFixed || string(b[:8]) != liveMagic:
		return l, errNotLive
	case le.Uint16(b[8:]) != Version:
		return l, OtherVersion(int(le.Uint16(b[8:])), Version)
	}
	l = live{
		chunkBytes: int(le.Uint32(b[12:])), stream: le.Uint64(b[32:]), rank: int32(le.Uint32(b[40:])),
		pid: int(le.Uint32(b[44:])), slots: int(le.Uint32(b[48:])), ended: le.Uint32(b[52:]) != 0,
	}
	copy(l.runID[:], b[16:])
	if l.chunkBytes < chunkHead+8 || l.chunkBytes > maxCapacity || l.chunkBytes%8 != 0 || l.slots > maxSlots {
		return l, fmt.Errorf("a live file has %d slots of %d bytes", l.slots, l.chunkBytes)
	}
	end := min(int(le.Uint16(b[10:])), len(b))
	for i := 0; i < NumCounters && liveFixed+8*i+8 <= end; i++ {
		l.counters[i] = le.Uint64(b[liveFixed+8*i:])
	}
	return l, nil
}

// parseOwner decodes which process and run directory own a live file. dir is "" if the file does not say.
func parseOwner(b []byte) (pidStart, pidNamespace uint64, dir string) {
	if len(b) < liveOwner+ownerHead {
		return 0, 0, ""
	}
	b = b[liveOwner:]
	n := int(le.Uint32(b[16:]))
	if n > len(b)-ownerHead {
		return 0, 0, ""
	}
	return le.Uint64(b), le.Uint64(b[8:]), string(b[ownerHead : ownerHead+n])
}

// manifest says where a process's live file is.
type manifest struct {
	runID        [16]byte
	stream       uint64
	rank         int32
	pid          int
	pidStart     uint64
	pidNamespace uint64
	host, path   string
	bootID       string // of the machine; "": unknown
	file         string // the manifest's own path
}

func parseManifest(b []byte) (m manifest, err error) {
	switch {
	case len(b) < manifestHead || string(b[:8]) != manifestMagic:
		return m, errors.New("not a manifest of mpitx")
	case le.Uint16(b[8:]) != Version:
		return m, OtherVersion(int(le.Uint16(b[8:])), Version)
	}
	head, all := int(le.Uint16(b[10:])), uint64(le.Uint32(b[12:]))
	host, path := uint64(le.Uint32(b[64:])), uint64(le.Uint32(b[68:]))
	if head < manifestHead || uint64(head)+host+path != all || all != uint64(len(b)) {
		return m, fmt.Errorf("a manifest has %d bytes, its file %d", all, len(b))
	}
	sum := update(0, b[:72])
	sum = update(sum, noBytes[:])
	if update(sum, b[76:]) != le.Uint32(b[72:]) {
		return m, errors.New("the manifest's checksum is wrong")
	}
	m = manifest{
		stream: le.Uint64(b[32:]), rank: int32(le.Uint32(b[40:])), pid: int(le.Uint32(b[44:])),
		pidStart: le.Uint64(b[48:]), pidNamespace: le.Uint64(b[56:]),
		host: string(b[head : head+int(host)]), path: string(b[head+int(host):]),
	}
	copy(m.runID[:], b[16:])
	if head >= manifestHead+manifestBoot {
		id, _, _ := bytes.Cut(b[manifestHead:manifestHead+manifestBoot], []byte{0})
		m.bootID = string(id)
	}
	return m, nil
}
