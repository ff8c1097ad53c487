package variables

import (
	"slices"
	"strings"

	"mpitx/catalog"
	"mpitx/cmd/mpitx/cli"
	"mpitx/launch"
)

// alternatives are the settings of each experiment: one variable may have several values, which are separated by commas, or named one
// after another. Commas in the value of a text belong to it.
func alternatives(given []launch.NameValue, c *catalog.Catalog) (all [][]launch.NameValue, err error) {
	values, order := map[string][]string{}, []string{}
	for _, s := range given {
		several := []string{s.Value}
		if v := c.Cvar(s.Name); v != nil && v.Type.Form() != catalog.FormText {
			several = strings.Split(s.Value, ",")
		}
		if values[s.Name] == nil {
			order = append(order, s.Name)
		}
		for _, value := range several {
			if slices.Contains(values[s.Name], value) {
				return nil, cli.Usagef("%s=%s is given twice", s.Name, value)
			}
			values[s.Name] = append(values[s.Name], value)
		}
	}
	varied := ""
	for _, name := range order {
		if len(values[name]) > 1 && varied != "" {
			return nil, cli.Usagef("%s and %s have several values each; give only one variable several values", varied, name)
		}
		if len(values[name]) > 1 || varied == "" && name == order[len(order)-1] {
			varied = name
		}
	}
	for _, value := range values[varied] {
		var one []launch.NameValue
		for _, name := range order {
			s := launch.NameValue{Name: name, Value: values[name][0]}
			if name == varied {
				s.Value = value
			}
			one = append(one, s)
		}
		all = append(all, one)
	}
	return all, nil
}

func settingsText(all []launch.NameValue) string {
	words := make([]string, len(all))
	for i, s := range all {
		words[i] = s.Name + "=" + s.Value
	}
	return strings.Join(words, " ")
}

// sizedWorkloads are those whose messages can have another size.
var sizedWorkloads = []string{"messages", "bcast", "reduce", "allreduce", "allgather"}

const mostBytes = 64 << 20

// parseSizes reads --size.
func (o *verifyOptions) parseSizes() error {
	if len(o.sizes) > 0 && !slices.Contains(sizedWorkloads, o.workload) {
		return cli.Usagef("--size: the messages of the workload %s have one size; choose a workload with --workload: %s", o.workload, strings.Join(sizedWorkloads, ", "))
	}
	for _, word := range o.sizes {
		size, err := cli.ParseSize(word)
		if err != nil {
			return cli.Usagef("--size: %q: must be a size such as 512, 64k or 1M", word)
		}
		if size < 4 || size > mostBytes {
			return cli.Usagef("--size %s: must be between 4 bytes and 64M", word)
		}
		if slices.Contains(o.bytes, size) {
			return cli.Usagef("--size %s is given twice", word)
		}
		o.bytes = append(o.bytes, size)
	}
	if len(o.bytes) == 0 {
		o.bytes = []int64{0}
	}
	return nil
}
