package catalog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// ReadError says what is wrong with a document, and where.
type ReadError struct {
	File   string // "" when it did not come from a file
	Line   int    // from 1
	Column int    // from 1, in bytes
	Path   string // the field: "cvars[3].before.value"; "" for the document itself
	Err    error
}

func (e *ReadError) Error() string {
	var b strings.Builder
	if e.File != "" {
		fmt.Fprintf(&b, "%s:%d:%d: ", e.File, e.Line, e.Column)
	} else {
		fmt.Fprintf(&b, "line %d, column %d: ", e.Line, e.Column)
	}
	if e.Path != "" {
		b.WriteString(e.Path + ": ")
	}
	b.WriteString(e.Err.Error())
	return b.String()
}

func (e *ReadError) Unwrap() error { return e.Err }

var errTruncated = fmt.Errorf("the file ends too early: %w", io.ErrUnexpectedEOF)

// newReadError says where in a document an error of the decoder, or a problem, is. The JSON text starts at start.
func newReadError(doc []byte, start int, err error) *ReadError {
	var ours *problem
	var syntax *jsontext.SyntacticError
	var semantic *json.SemanticError
	var at jsontext.Pointer
	offset := start
	switch {
	case errors.As(err, &ours):
		at, err = ours.at, ours.err
		offset += find(doc[start:], at)
	case errors.As(err, &syntax):
		at, err = syntax.JSONPointer, syntax.Err
		offset += int(syntax.ByteOffset)
		if err == io.ErrUnexpectedEOF {
			offset, err = len(doc), errTruncated
		}
	case errors.As(err, &semantic):
		at, err = semantic.JSONPointer, meaning(semantic)
		offset += find(doc[start:], at)
	}
	return &ReadError{
		Line:   1 + bytes.Count(doc[:offset], []byte("\n")),
		Column: offset - bytes.LastIndexByte(doc[:offset], '\n'),
		Path:   fieldPath(at),
		Err:    err,
	}
}

// meaning puts the decoder's error in our words.
func meaning(e *json.SemanticError) error {
	text := clip(string(e.JSONValue))
	switch {
	case errors.Is(e.Err, strconv.ErrRange):
		return fmt.Errorf("%s is out of range", text)
	case errors.Is(e.Err, strconv.ErrSyntax):
		return fmt.Errorf("%s is not a whole number", text)
	case e.GoType == reflect.TypeFor[time.Time]():
		return errors.New("not a time as in RFC 3339")
	case e.Err != nil:
		return e.Err
	}
	want := "an object"
	switch e.GoType.Kind() {
	case reflect.String:
		want = "a string"
	case reflect.Bool:
		want = "true or false"
	case reflect.Int, reflect.Float64:
		want = "a number"
	case reflect.Slice:
		want = "a list"
	}
	return fmt.Errorf("%s where %s should be", kindName(e.JSONKind), want)
}

func kindName(k jsontext.Kind) string {
	switch k {
	case '"':
		return "a string"
	case '0':
		return "a number"
	case '[':
		return "a list"
	case '{':
		return "an object"
	}
	return k.String()
}

// find is where the value that a pointer points to starts, or the innermost one around it.
func find(doc []byte, at jsontext.Pointer) int {
	d := jsontext.NewDecoder(bytes.NewBuffer(doc))
	start := 0
	for token := range at.Tokens() {
		start = startOfNext(d, doc)
		if !enter(d, token) {
			return start
		}
	}
	return startOfNext(d, doc)
}

func startOfNext(d *jsontext.Decoder, doc []byte) int {
	i := int(d.InputOffset())
	return i + len(doc[i:]) - len(bytes.TrimLeft(doc[i:], " \t\r\n,:"))
}

// enter goes to a member of the object, or element of the list, that is next.
func enter(d *jsontext.Decoder, token string) bool {
	container, _ := d.ReadToken()
	for i := 0; d.PeekKind() != jsontext.KindInvalid; i++ {
		name := strconv.Itoa(i)
		if container.Kind() == '{' {
			member, err := d.ReadToken()
			if err != nil || member.Kind() != '"' {
				return false
			}
			name = member.String()
		}
		if name == token {
			return true
		}
		if d.SkipValue() != nil {
			return false
		}
	}
	return false
}

// fieldPath writes a pointer as Go would.
func fieldPath(at jsontext.Pointer) string {
	var b strings.Builder
	for token := range at.Tokens() {
		if b.Len() > 100 {
			return b.String() + "…"
		}
		switch _, err := strconv.Atoi(token); {
		case err == nil:
			b.WriteString("[" + token + "]")
		case b.Len() > 0:
			b.WriteString("." + token)
		default:
			b.WriteString(token)
		}
	}
	return b.String()
}
