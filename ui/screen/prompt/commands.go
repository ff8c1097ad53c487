package prompt

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"mpitx/ui/screen/keys"
)

// Command is a command of a screen's command line.
type Command struct {
	Name, Args, Help string
	Do               func(args string) tea.Cmd
}

// Commands are all commands of a screen, in the order of its help.
type Commands []Command

// Add adds a command.
func (c *Commands) Add(name, args, help string, do func(args string) tea.Cmd) {
	*c = append(*c, Command{name, args, help, do})
}

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

// Section is the part of the help with the commands.
func (c Commands) Section() keys.Section {
	s := keys.Section{Title: "Commands"}
	for i := range c {
		s.Keys = append(s.Keys, keys.Key{Names: []string{strings.TrimSpace(":" + c[i].Name + " " + c[i].Args)}, Help: c[i].Help})
	}
	return s
}

// Command handles a key of the command line. Tab completes one of the words. The line ends with Enter, which runs it, with Esc, or
// with Backspace if it is empty.
func (i *Line) Command(key, text string, words func() []string) (ended, run bool) {
	switch key {
	case "enter":
		return true, true
	case "esc":
		return true, false
	case "tab":
		*i = New(Complete(i.String(), words()))
	case "backspace":
		ended = len(i.text) == 0
		i.Key(key, text)
	default:
		i.Key(key, text)
	}
	return ended, false
}
