package tensorboard

import (
	"encoding/binary"
	"hash/crc32"
	"math"
	"math/bits"

	"google.golang.org/protobuf/encoding/protowire"
)

// appendRecord appends data as a TFRecord: length as uint64, masked checksum of
// these 8 bytes, data, masked checksum of data; all little endian.
func appendRecord(dst, data []byte) []byte {
	from := len(dst)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(len(data)))
	dst = binary.LittleEndian.AppendUint32(dst, masked(dst[from:]))
	dst = append(dst, data...)
	return binary.LittleEndian.AppendUint32(dst, masked(data))
}

// masked is the CRC-32C of data, rotated right by 15 bits, plus a constant: so
// that a checksum of data that hold checksums is no trivial number.
func masked(data []byte) uint32 {
	return bits.RotateLeft32(crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli)), -15) + 0xa282ead8
}

// event is an Event: one of text, start and values, at a time and step.
type event struct {
	wall   float64 // seconds since 1970
	step   int64
	text   string // version of the file
	start  bool   // the run starts, or starts again, at step
	values []Scalar
}

// append encodes the event. The numbers are those of TensorFlow's event.proto
// (Event: 1 wall time, 2 step, 3 version, 5 summary, 7 session; SessionLog: 1
// status, of which 1 is start) and summary.proto (Summary: 1 value; Value: 1 tag, 2
// the number). A step of 0 is left out, as Protocol Buffers do with zeros.
func (e event) append(dst []byte) []byte {
	dst = protowire.AppendFixed64(protowire.AppendTag(dst, 1, protowire.Fixed64Type), math.Float64bits(e.wall))
	if e.step != 0 {
		dst = protowire.AppendVarint(protowire.AppendTag(dst, 2, protowire.VarintType), uint64(e.step))
	}
	switch {
	case e.text != "":
		return message(dst, 3, []byte(e.text))
	case e.start:
		return message(dst, 7, protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), 1))
	}
	var summary []byte
	for _, s := range e.values {
		value := protowire.AppendTag(message(nil, 1, []byte(s.Tag)), 2, protowire.Fixed32Type)
		summary = message(summary, 1, protowire.AppendFixed32(value, math.Float32bits(float32(s.Value))))
	}
	return message(dst, 5, summary)
}

// message appends a field that is a string or a message.
func message(dst []byte, field protowire.Number, content []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(dst, field, protowire.BytesType), content)
}
