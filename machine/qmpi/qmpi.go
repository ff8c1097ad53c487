// Package qmpi examines tools with the interface of the QMPI draft before an application starts with them: first their files,
// without loading them, and then in a child process, which loads them as the application will.
package qmpi

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"mpitx/machine"
)

// Most is the maximum number of tools of an application.
const Most = 16

// Library has the symbols of the draft, for tools and for applications that link tools.
const Library = machine.QMPILibrary

// Variable names tools, separated by commas. They follow those of --tool.
const Variable = "MPITX_TOOLS"

// Tool is an instance of a tool that the user wants.
type Tool struct {
	From string // "--tool" or Variable, with the tool as given
	Path string // absolute path of the library; "" if the application links the tool
	Name string // "" means the only tool that the library registers
}

// String is the tool as Parse reads it.
func (t *Tool) String() string {
	switch {
	case t.Path == "":
		return t.Name
	case t.Name == "":
		return t.Path
	}
	return t.Path + ":" + t.Name
}

// Label names the tool and its library for people.
func (t *Tool) Label() string {
	switch {
	case t.Path == "":
		return t.Name
	case t.Name == "":
		return filepath.Base(t.Path)
	}
	return t.Name + " (" + filepath.Base(t.Path) + ")"
}

// Parse reads LIB[:NAME] or the name of a tool that the application links. An error names the argument; from is the
// flag or the variable that has it.
func Parse(e *machine.Env, from string, given []string) (tools []Tool, err error) {
	for _, text := range given {
		t := Tool{From: from + " " + text, Path: text}
		if text == "" {
			return nil, &machine.Error{What: from, Why: "a name is empty", Do: "name shared libraries, as in " + example(from), Usage: true}
		}
		if k := strings.LastIndexByte(text, ':'); k >= 0 && !exists(e, text) {
			t.Path, t.Name = text[:k], text[k+1:]
			if t.Path == "" || t.Name == "" {
				return nil, t.wrong("the library or the name is missing", "write it as LIB:NAME")
			}
		}
		switch {
		case t.Name == "" && !strings.Contains(text, "/") && !strings.Contains(text, ".so"): // even if there is such a file
			t.Path, t.Name = "", text
		case exists(e, t.Path):
			if t.Path, err = filepath.Abs(t.Path); err != nil {
				return nil, t.wrong(err.Error(), "")
			}
		default:
			return nil, t.missing("there is no such file")
		}
		tools = append(tools, t)
	}
	return tools, nil
}

func example(from string) string {
	if from == Variable {
		return Variable + "=./liba.so,./libb.so"
	}
	return from + " ./liba.so"
}

func exists(e *machine.Env, path string) bool {
	_, err := os.Stat(e.File(path))
	return err == nil || !errors.Is(err, fs.ErrNotExist)
}

// Settings are the names and values that configure the agent to load tools.
func Settings(library string, tools []Tool) [][2]string {
	all := [][2]string{{"qmpi", library}}
	for _, t := range tools {
		all = append(all, [2]string{"tool", t.Path}, [2]string{"tool_name", t.Name})
	}
	return all
}

// wrong is the error for a tool that cannot be used.
func (t *Tool) wrong(why, do string) *machine.Error {
	return &machine.Error{What: t.From, Why: why, Do: do, Usage: true}
}

// missing is the error for a tool that does not exist.
func (t *Tool) missing(why string) *machine.Error {
	return &machine.Error{What: t.From, Why: why, Do: "give the path of the tool's shared library"}
}

// TooMany is the error for more tools than there can be; nil if there are fewer.
func TooMany(tools []Tool) error {
	if len(tools) <= Most {
		return nil
	}
	return tools[Most].wrong(fmt.Sprintf("there are %d tools, and at most %d are possible", len(tools), Most), "name fewer")
}
