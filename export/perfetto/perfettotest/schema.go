package perfettotest

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
)

// schema is the part of Perfetto's .proto files that the writer uses: the messages, with the number, the name, the type and, before the
// type, "repeated" of each field. It agrees with these files of github.com/google/perfetto at ec5d16b14b74, in protos/perfetto/trace: trace,
// trace_packet, clock_snapshot, interned_data/interned_data, profiling/profile_common, track_event/{track_event,debug_annotation,track_descriptor,process_descriptor,thread_descriptor,counter_descriptor}.
const schema = `
Trace: 1 packet repeated TracePacket
TracePacket: 6 clock_snapshot ClockSnapshot, 8 timestamp uint64, 10 trusted_packet_sequence_id uint32, 11 track_event TrackEvent, 12 interned_data InternedData, 13 sequence_flags uint32, 60 track_descriptor TrackDescriptor
ClockSnapshot: 1 clocks repeated Clock
Clock: 1 clock_id uint32, 2 timestamp uint64
TrackEvent: 3 category_iids repeated uint64, 4 debug_annotations repeated DebugAnnotation, 9 type uint32, 10 name_iid uint64, 11 track_uuid uint64, 30 counter_value int64, 44 double_counter_value double, 47 flow_ids repeated fixed64, 48 terminating_flow_ids repeated fixed64
DebugAnnotation: 1 name_iid uint64, 3 uint_value uint64, 4 int_value int64, 5 double_value double, 6 string_value string, 17 string_value_iid uint64
InternedData: 1 event_categories repeated Interned, 2 event_names repeated Interned, 3 debug_annotation_names repeated Interned, 29 debug_annotation_string_values repeated InternedBytes
Interned: 1 iid uint64, 2 name string
InternedBytes: 1 iid uint64, 2 str bytes
TrackDescriptor: 1 uuid uint64, 2 name string, 3 process ProcessDescriptor, 4 thread ThreadDescriptor, 5 parent_uuid uint64, 8 counter CounterDescriptor
ProcessDescriptor: 1 pid int32, 6 process_name string
ThreadDescriptor: 1 pid int32, 2 tid int64, 5 thread_name string
CounterDescriptor: 3 unit uint32, 6 unit_name string
`

var protoTypes = map[string]descriptorpb.FieldDescriptorProto_Type{
	"uint64": descriptorpb.FieldDescriptorProto_TYPE_UINT64, "uint32": descriptorpb.FieldDescriptorProto_TYPE_UINT32, "int64": descriptorpb.FieldDescriptorProto_TYPE_INT64,
	"int32": descriptorpb.FieldDescriptorProto_TYPE_INT32, "double": descriptorpb.FieldDescriptorProto_TYPE_DOUBLE, "string": descriptorpb.FieldDescriptorProto_TYPE_STRING,
	"bytes": descriptorpb.FieldDescriptorProto_TYPE_BYTES, "fixed64": descriptorpb.FieldDescriptorProto_TYPE_FIXED64,
}

func number(t testing.TB, s string) (n int32) {
	t.Helper()
	for _, c := range s {
		n = n*10 + c - '0'
	}
	return n
}

// traceType is the message Trace of the schema.
func traceType(t testing.TB) protoreflect.MessageDescriptor {
	t.Helper()
	file := &descriptorpb.FileDescriptorProto{Name: proto.String("trace.proto"), Package: proto.String("perfetto.protos"), Syntax: proto.String("proto2")}
	for line := range strings.Lines(strings.TrimSpace(schema)) {
		name, fields, _ := strings.Cut(strings.TrimSpace(line), ": ")
		m := &descriptorpb.DescriptorProto{Name: proto.String(name)}
		for field := range strings.SplitSeq(fields, ", ") {
			words := strings.Fields(field)
			f := &descriptorpb.FieldDescriptorProto{Number: proto.Int32(number(t, words[0])), Name: proto.String(words[1]), Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum()}
			if words[2] == "repeated" {
				f.Label = descriptorpb.FieldDescriptorProto_LABEL_REPEATED.Enum()
			}
			if typ, ok := protoTypes[words[len(words)-1]]; ok {
				f.Type = typ.Enum()
			} else {
				f.Type = descriptorpb.FieldDescriptorProto_TYPE_MESSAGE.Enum()
				f.TypeName = proto.String(".perfetto.protos." + words[len(words)-1])
			}
			m.Field = append(m.Field, f)
		}
		file.MessageType = append(file.MessageType, m)
	}
	fd, err := protodesc.NewFile(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	return fd.Messages().ByName("Trace")
}

// message reads fields of a message by name.
type message struct{ protoreflect.Message }

func (m message) field(name string) protoreflect.Value {
	return m.Get(m.Descriptor().Fields().ByName(protoreflect.Name(name)))
}
func (m message) has(name string) bool {
	return m.Has(m.Descriptor().Fields().ByName(protoreflect.Name(name)))
}
func (m message) one(name string) message   { return message{m.field(name).Message()} }
func (m message) number(name string) uint64 { return m.field(name).Uint() }
func (m message) text(name string) string   { return m.field(name).String() }
func (m message) list(name string) (all []message) {
	l := m.field(name).List()
	for i := range l.Len() {
		all = append(all, message{l.Get(i).Message()})
	}
	return all
}

func (m message) numbers(name string) (all []uint64) {
	l := m.field(name).List()
	for i := range l.Len() {
		all = append(all, l.Get(i).Uint())
	}
	return all
}

// decode decodes a trace, in which no field may be unknown.
func decode(t testing.TB, b []byte) message {
	t.Helper()
	m := dynamicpb.NewMessage(traceType(t))
	if err := proto.Unmarshal(b, m); err != nil {
		t.Fatal(err)
	}
	var check func(protoreflect.Message)
	check = func(m protoreflect.Message) {
		if len(m.GetUnknown()) > 0 {
			t.Fatalf("%s has unknown fields: %x", m.Descriptor().Name(), m.GetUnknown())
		}
		m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
			switch {
			case f.Message() == nil:
			case f.IsList():
				for i := range v.List().Len() {
					check(v.List().Get(i).Message())
				}
			default:
				check(v.Message())
			}
			return true
		})
	}
	check(m)
	return message{m}
}
