package prompt

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	tea "charm.land/bubbletea/v2"

	"mpitx/export"
	"mpitx/ui/screen/keys"
)

// Command is a command of a screen's command line.
type Command struct {
	Name, Args, Help string
	Do               func(args string) tea.Cmd
	Live             bool                       // needs what a screen may lack
	Words            func(word string) []string // completions of an argument; nil: none
}

// Commands are all commands of a screen, in the order of its help.
type Commands []Command

// Add adds a command.
func (c *Commands) Add(name, args, help string, do func(args string) tea.Cmd) {
	c.AddWith(name, args, help, do, false, nil)
}

// AddWith adds a command that may need what a screen lacks, with completions of its arguments.
func (c *Commands) AddWith(name, args, help string, do func(args string) tea.Cmd, live bool, words func(word string) []string) {
	*c = append(*c, Command{name, args, help, do, live, words})
}

// AddSaving adds a command that saves a file, and the one with ! that also replaces a file.
func (c *Commands) AddSaving(name, args, help, over string, do func(command, path string) tea.Cmd) {
	c.Add(name, args, help, func(path string) tea.Cmd { return do(name, path) })
	c.Add(name+"!", args, over, func(path string) tea.Cmd { return do(name+"!", path) })
}

// Over is the help of most commands that replace a file.
const Over = "the same; replaces a file that exists"

// Names are the names of all commands.
func (c Commands) Names() []string {
	names := make([]string, len(c))
	for i := range c {
		names[i] = c[i].Name
	}
	return names
}

// Parse finds the command of a line, and its arguments. An empty line has none. Its errors are for the user.
func (c Commands) Parse(line string) (command *Command, args string, err error) {
	name, args, _ := strings.Cut(strings.TrimSpace(line), " ")
	if name == "" {
		return nil, "", nil
	}
	k, err := Find(c.Names(), name)
	if err != nil {
		return nil, "", err
	}
	return &c[k], strings.TrimSpace(args), nil
}

// Section is the part of the help with the commands, with those that need more only if live.
func (c Commands) Section(live bool) keys.Section {
	s := keys.Section{Title: "Commands"}
	for i := range c {
		if c[i].Live && !live {
			continue
		}
		s.Keys = append(s.Keys, keys.Key{Names: []string{strings.TrimSpace(":" + c[i].Name + " " + c[i].Args)}, Help: c[i].Help})
	}
	return s
}

// Complete finishes the last word of a line: the first one is one of names, others are the command's. If several words are possible, they
// are offered.
func (c Commands) Complete(line string, names []string) (full string, offers []string) {
	name, _, args := strings.Cut(strings.TrimLeft(line, " "), " ")
	word := line[strings.LastIndexByte(line, ' ')+1:]
	if args {
		names = nil
		if command, _, _ := c.Parse(name); command != nil && command.Words != nil {
			names = command.Words(word)
		}
	}
	common := ""
	for _, n := range names {
		switch {
		case !strings.HasPrefix(n, word), !args && strings.HasSuffix(n, "!"):
			continue
		case offers == nil:
			common = n
		}
		offers = append(offers, n)
		for !strings.HasPrefix(n, common) {
			common = common[:len(common)-1]
		}
	}
	full = line + strings.TrimPrefix(common, word)
	if len(offers) == 1 && !strings.HasSuffix(full, "=") {
		full += " "
	}
	if full != line {
		offers = nil
	}
	return full, offers
}

// Find finds a command by its name, or by an unambiguous beginning of it. Names with ! must be complete. Its errors are for the user.
func Find(names []string, name string) (int, error) {
	found := -1
	for k, n := range names {
		switch {
		case n == name:
			return k, nil
		case !strings.HasPrefix(n, name), strings.HasSuffix(n, "!"):
		case found >= 0:
			return -1, fmt.Errorf("%q may be %s or %s", name, names[found], n)
		default:
			found = k
		}
	}
	if found < 0 {
		return -1, fmt.Errorf("no command %q: :help lists them", name)
	}
	return found, nil
}

// Format is the output format that a file name stands for. Its error is for the user.
func Format(path string) (export.Format, error) {
	format, err := export.ParseFormat(strings.TrimPrefix(strings.ToLower(filepath.Ext(path)), "."))
	if err != nil || path == "" || format != export.FormatCSV && format != export.FormatJSON && format != export.FormatNDJSON {
		return format, fmt.Errorf("export: the file's name must end in .csv, .json or .ndjson: :export my.csv")
	}
	return format, nil
}

// Saved is the outcome of saving a file for a command.
type Saved struct {
	Path, What string
	Err        error
}

// Save writes what data holds to a file for a command.
func Save(command, path, what string, data []byte) tea.Cmd {
	return func() tea.Msg {
		f, err := Create(command, path)
		if err == nil {
			_, err = f.Write(data)
			err = cmp.Or(err, f.Close())
		}
		return Saved{path, what, err}
	}
}

// Create makes a file for a command. Only a command that ends in ! replaces a file that exists.
func Create(command, path string) (*os.File, error) {
	how := os.O_EXCL
	if strings.HasSuffix(command, "!") {
		how = os.O_TRUNC
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|how, 0o666)
	if os.IsExist(err) {
		return nil, fmt.Errorf("the file exists; :%s! %s replaces it", command, path)
	}
	return f, err
}
