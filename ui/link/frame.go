package link

import (
	"bufio"
	"bytes"
	"compress/flate"
	"encoding/base64"
	"fmt"
	"hash/crc32"
	"io"
	"strconv"
	"sync"
)

// A message crosses as one or more lines of text, which survive a terminal between the two ends (it turns "\n" into "\r\n"),
// launchers that forward in pieces, and output before, between and after them:
//
//	RS "mpitx1 " NNNNNNNN " " F " " LLLL " " CCCCCCCC " " BASE64 "\n"
//
// RS is the character 1E. NNNNNNNN counts the lines of this direction from 0, F is '=' if the line is a whole message, '<'
// in its first, '-' in further ones and '>' in the last line, LLLL is the length of BASE64, CCCCCCCC the CRC-32 (IEEE) of everything from NNNNNNNN to LLLL and
// of BASE64; numbers are hexadecimal. The decoded lines of a message, joined, are its JSON; or 'z' and its JSON, deflated.
const (
	magic   = "\x1empitx1 "
	header  = len("NNNNNNNN F LLLL CCCCCCCC ")
	perLine = 768 // bytes: 1024 characters
)

const (
	maxMessage = 256 << 20 // bytes, inflated
	maxText    = 4096      // bytes of a line of foreign text; longer ones are cut into several
	deflateMin = 2048
)

var encoding = base64.StdEncoding

// Writer writes messages. It may be used concurrently. A long message delays others only while its own lines are written.
type Writer struct {
	mu  sync.Mutex
	w   io.Writer
	seq uint32
}

// NewWriter makes a Writer whose lines each go to w in one call of Write.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w} }

// Write writes one message.
func (w *Writer) Write(json []byte) error {
	body := json
	if len(json) >= deflateMin {
		var b bytes.Buffer
		b.WriteByte('z')
		z, _ := flate.NewWriter(&b, flate.BestSpeed) // the level is a valid one
		z.Write(json)
		z.Close()
		body = b.Bytes()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for first := true; first || len(body) > 0; first = false {
		n := min(len(body), perLine)
		if _, err := w.w.Write(appendLine(nil, w.seq, body[:n], first, n == len(body))); err != nil {
			return err
		}
		w.seq++
		body = body[n:]
	}
	return nil
}

func appendLine(b []byte, seq uint32, part []byte, first, last bool) []byte {
	flag := '-'
	switch {
	case first && last:
		flag = '='
	case first:
		flag = '<'
	case last:
		flag = '>'
	}
	text := encoding.EncodeToString(part)
	head := fmt.Sprintf("%08x %c %04x", seq, flag, len(text))
	return fmt.Appendf(b, "%s%s %08x %s\n", magic, head, sum(head, text), text)
}

func sum(head, text string) uint32 {
	return crc32.Update(crc32.ChecksumIEEE([]byte(head)), crc32.IEEETable, []byte(text))
}

// Item is a finding of a Reader: a message, foreign text, or a place where a message was lost.
type Item struct {
	Message []byte // JSON
	Text    string // one line of foreign text, or a piece of a long one
	Damaged bool   // at least one message was lost here
}

// Reader finds the messages in a stream.
type Reader struct {
	r     *bufio.Reader
	next  uint32 // sequence number
	part  []byte
	in    bool // a message, whose lines so far are in part
	lost  bool // the last line was damaged, and this was said
	ready []Item
	line  []byte
}

// NewReader makes a Reader.
func NewReader(r io.Reader) *Reader { return &Reader{r: bufio.NewReaderSize(r, 1<<16)} }

// Next returns the next item. At the end of the stream it returns the error of the underlying reader. It never holds more than one
// message and one line.
func (r *Reader) Next() (Item, error) {
	for len(r.ready) == 0 {
		piece, err := r.r.ReadSlice('\n')
		r.line = append(r.line, piece...)
		switch {
		case err == nil, err != bufio.ErrBufferFull:
			if len(r.line) > 0 {
				r.take(r.line, err != nil)
			}
			r.line = r.line[:0]
			if err != nil && len(r.ready) == 0 {
				return Item{}, err
			}
		case len(r.line) > 1<<20:
			r.take(r.line, false)
			r.line = r.line[:0]
		}
	}
	it := r.ready[0]
	r.ready = r.ready[1:]
	return it, nil
}

// take finds the items in a line. A message that the end of the stream cuts off is not damage: the end is reported.
func (r *Reader) take(line []byte, cut bool) {
	line = bytes.TrimRight(line, "\r\n")
	for {
		k := bytes.Index(line, []byte(magic))
		if k < 0 {
			break
		}
		r.text(line[:k])
		rest := line[k+len(magic):]
		seq, flag, text, ok := parseLine(rest)
		if !ok {
			j := bytes.Index(rest, []byte(magic))
			if j < 0 && cut {
				return
			}
			r.damaged()
			r.lost = true
			if j < 0 {
				return
			}
			line = rest[j:]
			continue
		}
		r.takeLine(seq, flag, text)
		line = rest[header+len(text):]
	}
	r.text(line)
}

func (r *Reader) text(b []byte) {
	for len(b) > 0 {
		n := min(len(b), maxText)
		r.ready = append(r.ready, Item{Text: string(b[:n])})
		b = b[n:]
	}
}

func (r *Reader) damaged() {
	r.part, r.in = nil, false
	r.ready = append(r.ready, Item{Damaged: true})
}

func parseLine(b []byte) (seq uint32, flag byte, text []byte, ok bool) {
	if len(b) < header || b[8] != ' ' || b[10] != ' ' || b[15] != ' ' || b[24] != ' ' || bytes.IndexByte([]byte("=<->"), b[9]) < 0 {
		return 0, 0, nil, false
	}
	n, err1 := strconv.ParseUint(string(b[:8]), 16, 32)
	length, err2 := strconv.ParseUint(string(b[11:15]), 16, 16)
	crc, err3 := strconv.ParseUint(string(b[16:24]), 16, 32)
	if err1 != nil || err2 != nil || err3 != nil || len(b) < header+int(length) {
		return 0, 0, nil, false
	}
	text = b[header : header+int(length)]
	return uint32(n), b[9], text, uint32(crc) == sum(string(b[:15]), string(text))
}

func (r *Reader) takeLine(seq uint32, flag byte, text []byte) {
	if seq != r.next && !(r.lost && seq == r.next+1) {
		r.damaged()
	}
	r.next, r.lost = seq+1, false
	first, last := flag == '=' || flag == '<', flag == '=' || flag == '>'
	if first && r.in {
		r.damaged() // a message that begins in another
	}
	if first {
		r.in = true
	}
	if !r.in {
		return // the rest of a message whose beginning is lost
	}
	n := len(r.part)
	r.part = append(r.part, make([]byte, encoding.DecodedLen(len(text)))...)
	k, err := encoding.Decode(r.part[n:], text)
	r.part = r.part[:n+k]
	if err != nil || len(r.part) > maxMessage {
		r.damaged()
		return
	}
	if !last {
		return
	}
	body := r.part
	r.part, r.in = nil, false
	if len(body) > 0 && body[0] == 'z' {
		inflated, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(body[1:])), maxMessage+1))
		if err != nil || len(inflated) > maxMessage {
			r.damaged()
			return
		}
		body = inflated
	}
	r.ready = append(r.ready, Item{Message: body})
}
