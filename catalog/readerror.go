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

// ReadError is an error in a document, with its position.
type ReadError struct {
	File   string // "" if it did not come from a file
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

var errTruncated = fmt.Errorf("the file is truncated: %w", io.ErrUnexpectedEOF)

// newReadError adds the position in a document to an error of the decoder or a problem. The JSON text starts at start.
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
		at, err = semantic.JSONPointer, explain(semantic)
		offset += find(doc[start:], at)
	}
	return &ReadError{
		Line:   1 + bytes.Count(doc[:offset], []byte("\n")),
		Column: offset - bytes.LastIndexByte(doc[:offset], '\n'),
		Path:   fieldPath(at),
		Err:    err,
	}
}

// explain rewrites an error of the decoder in the words of users.
func explain(e *json.SemanticError) error {
	text := clip(string(e.JSONValue))
	switch {
	case errors.Is(e.Err, strconv.ErrRange):
		return fmt.Errorf("%s is out of range", text)
	case errors.Is(e.Err, strconv.ErrSyntax):
		return fmt.Errorf("%s is not a whole number", text)
	case e.GoType == reflect.TypeFor[time.Time]():
		return errors.New("not an RFC 3339 time")
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
	return fmt.Errorf("expected %s, not %s", want, kindName(e.JSONKind))
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

// find returns the offset of the value that a pointer refers to, or of the innermost value around it.
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

// enter moves to a member of the next object, or an element of the next list.
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

// fieldPath formats a pointer like a Go expression.
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
