package catalog

import (
	"encoding/binary"
	"errors"
)

// MarshalBinary returns the type as a 4-byte little-endian number, and the bytes of the elements.
func (v Value) MarshalBinary() ([]byte, error) {
	return append(binary.LittleEndian.AppendUint32(nil, uint32(v.typ)), v.raw...), nil
}

// UnmarshalBinary decodes the result of MarshalBinary.
func (v *Value) UnmarshalBinary(b []byte) error {
	if len(b) < 4 {
		return errors.New("a value has less than 4 bytes")
	}
	*v = NewValue(Datatype(binary.LittleEndian.Uint32(b)), b[4:])
	return nil
}
