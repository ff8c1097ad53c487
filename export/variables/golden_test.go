package variables

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mpitx/catalog"
	"mpitx/export"
)

var update = flag.Bool("update", false, "update the golden files")

// golden compares with testdata/NAME.txt.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name+".txt")
	if *update {
		if err := os.WriteFile(path, got, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs (go test -update updates it). Got:\n%s\nwant:\n%s", path, got, want)
	}
}

var (
	tty    = export.Terminal{Width: 100, IsTTY: true, UTF8: true}
	pipe   = export.Terminal{UTF8: true}
	ascii  = export.Terminal{Width: 80, IsTTY: true}
	color  = export.Terminal{Width: 80, IsTTY: true, UTF8: true, Color: true}
	narrow = export.Terminal{Width: 20, IsTTY: true, UTF8: true}
)

// TestListGolden: the files are named after the catalog, the terminal and the flags.
func TestListGolden(t *testing.T) {
	fields := func(s string) []*Field {
		f, err := ParseFields(s)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	for name, opts := range map[string]ListOptions{
		"list_tty":                {Terminal: tty},
		"list_pipe":               {Terminal: pipe},
		"list_cvars_pipe":         {Terminal: pipe, Kinds: catalog.Cvars},
		"list_cvars_ascii":        {Terminal: ascii, Kinds: catalog.Cvars, Filtered: true},
		"list_cvars_color":        {Terminal: color, Kinds: catalog.Cvars},
		"list_narrow":             {Terminal: narrow},
		"list_wide":               {Terminal: tty, Format: export.FormatWide},
		"list_json":               {Format: export.FormatJSON},
		"list_json_fields":        {Format: export.FormatJSON, Fields: fields("name,value,differs,ranks,set,count,enum")},
		"list_ndjson":             {Format: export.FormatNDJSON},
		"list_ndjson_pvar_fields": {Format: export.FormatNDJSON, Kinds: catalog.Pvars, Fields: fields("id,value,status,reason,flags")},
		"list_csv":                {Format: export.FormatCSV},
		"list_cvars_csv_fields":   {Format: export.FormatCSV, Kinds: catalog.Cvars, Fields: fields("name,before,after,ranks,conflicts")},
		"list_names":              {Format: export.FormatNames},
		"list_fields_tty":         {Terminal: tty, Fields: fields("value,name,differs")},
		"list_tree_tty":           {Terminal: tty, Tree: true},
		"list_tree_ascii":         {Terminal: ascii, Tree: true, Kinds: catalog.Cvars},
		"hostile_tty":             {Terminal: tty},
		"hostile_ascii":           {Terminal: ascii},
		"hostile_narrow":          {Terminal: narrow},
		"hostile_tree":            {Terminal: tty, Tree: true},
		"hostile_names":           {Format: export.FormatNames, Kinds: catalog.Cvars},
		"empty_tty":               {Terminal: tty},
		"empty_json":              {Format: export.FormatJSON},
		"empty_csv":               {Format: export.FormatCSV},
	} {
		t.Run(name, func(t *testing.T) {
			c := ordinary()
			switch {
			case strings.HasPrefix(name, "hostile"):
				c = hostile()
			case strings.HasPrefix(name, "empty"):
				c = &catalog.Catalog{}
			}
			var b bytes.Buffer
			if err := List(&b, c, opts); err != nil {
				t.Fatal(err)
			}
			golden(t, name, b.Bytes())
		})
	}
}

func everything(c *catalog.Catalog) []catalog.Entry {
	var all []catalog.Entry
	for _, e := range c.Entries(catalog.AllKinds &^ catalog.Groups) {
		all = append(all, e)
	}
	return all
}

func howToSet(v *catalog.Variable) []string {
	return []string{"OMPI_MCA_" + v.Name + "=VALUE", "mpirun --mca " + v.Name + " VALUE"}
}

func TestShowGolden(t *testing.T) {
	for name, opts := range map[string]ShowOptions{
		"show_tty":       {Terminal: tty, HowToSet: howToSet},
		"show_pipe":      {Terminal: pipe},
		"show_narrow":    {Terminal: narrow, HowToSet: howToSet},
		"show_color":     {Terminal: color},
		"show_json":      {Format: export.FormatJSON, HowToSet: howToSet},
		"show_ndjson":    {Format: export.FormatNDJSON},
		"show_names":     {Format: export.FormatNames},
		"hostile_show":   {Terminal: ascii},
		"show_none_json": {Format: export.FormatJSON},
	} {
		t.Run(name, func(t *testing.T) {
			c := ordinary()
			if strings.HasPrefix(name, "hostile") {
				c = hostile()
			}
			vars := everything(c)
			if strings.Contains(name, "none") {
				vars = nil
			}
			var b bytes.Buffer
			if err := Show(&b, c, vars, opts); err != nil {
				t.Fatal(err)
			}
			golden(t, name, b.Bytes())
		})
	}
}

func TestOutcomesGolden(t *testing.T) {
	text := func(s string) catalog.Value { return catalog.NewValue(catalog.TypeChar, []byte(s)) }
	c := &catalog.Catalog{Lists: catalog.Lists{Cvars: []catalog.Variable{{Kind: catalog.Cvars, Name: "coll_tuned_use_dynamic_rules", Enum: "bool"}},
		Enums: []catalog.Enum{{Name: "bool", Items: []catalog.Item{{Name: "false", Value: 0}, {Name: "true", Value: 1}}}}}}
	outcomes := []catalog.SameOutcome{
		{Outcome: catalog.Outcome{Name: "coll_tuned_use_dynamic_rules", Old: ints(catalog.TypeInt, 0), New: ints(catalog.TypeInt, 1), Back: ints(catalog.TypeInt, 1), Result: catalog.WriteOK}, Ranks: []int{0, 1, 2, 3}},
		{Outcome: catalog.Outcome{Name: "btl_tcp_if_include", Old: text("eth0"), New: text("ib0"), Back: text("eth0"), Result: catalog.WriteNever,
			Detail: "MPI_T_ERR_CVAR_SET_NEVER: the library refuses every write"}, Ranks: []int{2}},
	}
	for _, f := range export.Formats {
		var b bytes.Buffer
		if err := Outcomes(&b, c, outcomes, f, ascii); err != nil {
			t.Fatal(err)
		}
		golden(t, "outcomes_"+string(f), b.Bytes())
	}
}
