package ompiinfo

import (
	"strconv"
	"strings"

	"mpitx/catalog"
)

// types are Open MPI's names of types, and the datatypes by which it shows them through MPI_T.
var types = map[string]catalog.Datatype{
	"int": catalog.TypeInt, "unsigned_int": catalog.TypeUnsigned, "unsigned_long": catalog.TypeUnsignedLong,
	"unsigned_long_long": catalog.TypeUnsignedLongLong, "size_t": catalog.TypeUnsignedLong, "bool": catalog.TypeBool,
	"string": catalog.TypeChar, "version_string": catalog.TypeChar, "double": catalog.TypeDouble, "long": catalog.TypeLong,
	"int32_t": catalog.TypeInt32, "uint32_t": catalog.TypeUint32, "int64_t": catalog.TypeInt64, "uint64_t": catalog.TypeUint64,
}

// control is a control variable and its enumeration, which has the name of the variable.
func (v *variable) control() (x catalog.Variable, e *catalog.Enum) {
	x = v.common(catalog.Cvars)
	if level, err := strconv.Atoi(v.keys["level"]); err == nil && level >= 1 && level <= 9 {
		x.Verbosity = catalog.Verbosity(level)
	}
	if len(v.enum) > 0 {
		x.Enum = v.name
		e = &catalog.Enum{Name: v.name, Items: v.enum, Flags: areFlags(v.enum)}
	}
	x.Before = &catalog.Reading{Status: catalog.StatusOK, Value: v.value(&x, e), Count: 1}
	x.Origin = origin(v.keys["source"])
	return x, e
}

func (v *variable) common(kind catalog.Kind) catalog.Variable {
	return catalog.Variable{Kind: kind, Name: v.name, Type: types[v.keys["type"]], Description: v.keys["help"]}
}

// value is the value with its type; a text if it does not fit the type.
func (v *variable) value(x *catalog.Variable, e *catalog.Enum) catalog.Value {
	text := v.keys["value"]
	if len(text) > 1 && text[0] == '"' && text[len(text)-1] == '"' && strings.Contains(text, ":") { // ompi_info quotes values with colons
		text = text[1 : len(text)-1]
	}
	if x.Type.Form() == catalog.FormText {
		return catalog.NewText(text)
	}
	if e != nil && e.Flags {
		text = strings.ReplaceAll(text, ",", "|")
	}
	if text == "unset" || text == "" { // a default of Open MPI 5 that PSM2 decides, or no flag; MPI_T has 0
		text = "0"
	}
	value, err := catalog.ParseValue(x, e, 1, text)
	if err != nil {
		return catalog.NewText(text)
	}
	return value
}

// areFlags reports whether a value can be several items joined, as the back end decides it for MPI_T: at least three bits.
func areFlags(items []catalog.Item) bool {
	seen := map[int]bool{}
	for _, it := range items {
		switch {
		case it.Value < 0 || it.Value&(it.Value-1) != 0:
			return false
		case it.Value > 0:
			seen[it.Value] = true
		}
	}
	return len(seen) >= 3
}

// origin is where the user set a variable, from "file (/etc/openmpi/openmpi-mca-params.conf:63)".
func origin(source string) *catalog.Origin {
	word, rest, _ := strings.Cut(source, " (")
	where := strings.TrimSuffix(rest, ")")
	switch word {
	case "environment":
		return &catalog.Origin{Kind: catalog.OriginEnvironment, Where: where}
	case "command line":
		return &catalog.Origin{Kind: catalog.OriginLauncher, Where: where}
	case "file", "override":
		return &catalog.Origin{Kind: catalog.OriginFile, Where: where}
	}
	return nil
}

// performance is a performance variable. ompi_info prints no values of these.
func (v *variable) performance() catalog.Variable {
	x := v.common(catalog.Pvars)
	x.Class, _ = catalog.ParseClass(strings.ReplaceAll(v.keys["class"], "_", "-"))
	yes := func(key string) bool { return v.keys[key] == "true" }
	x.Readonly, x.Continuous, x.Atomic = yes("read-only"), yes("continuous"), yes("atomic")
	x.Before = &catalog.Reading{Status: catalog.StatusUnbound, Reason: "ompi_info prints no value"}
	return x
}
