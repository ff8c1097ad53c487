package variables

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"mpitx/catalog"
	"mpitx/cmd/mpitx/cli"
	"mpitx/export"
	"mpitx/export/variables"
	"mpitx/settings"
	"mpitx/text"
)

// export saves settings for the next run, with what they need, to a file. The library gets none of them.
func (o *writeOptions) export(cmd *cobra.Command, writes []catalog.WriteRequest) error {
	if err := o.file.Unused(); err != nil {
		return err
	}
	c, err := o.Open(cmd, nil, "")
	if err != nil {
		return err
	}
	code := o.Warn(c)
	if !o.known(c, writes) {
		return o.End(cli.ExitFailed, nil)
	}
	judge := o.Judge(c)
	var given []settings.NameValue
	for _, w := range writes {
		given = append(given, settings.NameValue{Name: w.Name, Value: w.Text})
	}
	all, err := judge.Assign(c, given)
	if err != nil {
		return o.End(code, cli.Failf("%v", err))
	}
	all = judge.Complete(c, all)
	form := settings.FormOf(o.file.Out, settings.Options)
	words, left, err := settings.Settings(judge.Impl, form, all, text.UTF8)
	switch {
	case err != nil:
		return o.End(code, cli.Usagef("--export %s: %v", text.Quote(o.file.Out), err))
	case len(left) == len(all):
		return o.End(code, cli.Failf("nothing to export: %s", strings.Join(left, "; ")))
	case left != nil:
		o.App.Complain("not in the file: %s", strings.Join(left, "; "))
		code = max(code, cli.ExitPartial)
	}
	for _, a := range all {
		for _, note := range a.Notes {
			o.App.Complain("%s", note)
		}
	}
	return o.Answer(code, func() error {
		if !o.file.Named() {
			_, err := io.WriteString(o.App.Out, words)
			return err
		}
		if err := o.file.Create(func(w io.Writer) error { _, err := io.WriteString(w, words); return err }); err != nil {
			return err
		}
		if err := variables.Outcomes(o.App.Out, c, variables.Exported(c, all, left), o.format, o.Term); err != nil {
			return err
		}
		if o.format == export.FormatTable {
			fmt.Fprintf(o.App.Out, "\nsaved the %s; %s\n", form, o.Term.SafeCommand(o.toUse(form, words)))
		}
		return nil
	})
}

// toUse says how the next run gets the settings of a file.
func (o *writeOptions) toUse(form settings.Form, words string) string {
	file := text.Quote(o.file.Out)
	switch {
	case form == settings.Script:
		if !strings.Contains(file, "/") {
			file = "./" + file
		}
		return "in the shell that starts the run: . " + file
	case form == settings.File:
		return "add its lines to the parameter file: cat " + file + " >> ~/.openmpi/mca-params.conf"
	case strings.ContainsAny(words, `'"`): // the shell reads them when it reads the line again
		return "start the run with them: eval \"" + o.App.Env.Word(o.Chosen.Launcher) + " $(cat " + file + ") ...\""
	}
	return "start the run with them: " + o.App.Env.Word(o.Chosen.Launcher) + " $(cat " + file + ") ..."
}
