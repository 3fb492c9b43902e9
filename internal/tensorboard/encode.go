package tensorboard

import (
	"encoding/binary"
	"hash/crc32"
	"math"
	"math/bits"
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

// Fields of the messages Event, SessionLog, Summary and Summary.Value.
const (
	eventWall    = 1
	eventStep    = 2
	eventVersion = 3
	eventSummary = 5
	eventSession = 7

	sessionStatus = 1
	statusStart   = 1

	summaryValue = 1
	valueTag     = 1
	valueSimple  = 2
)

// Wire types of protocol buffers.
const (
	varint  = 0
	fixed64 = 1
	counted = 2
	fixed32 = 5
)

func (e event) append(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint64(appendKey(dst, eventWall, fixed64), math.Float64bits(e.wall))
	if e.step != 0 {
		dst = binary.AppendUvarint(appendKey(dst, eventStep, varint), uint64(e.step))
	}
	switch {
	case e.text != "":
		dst = appendBytes(dst, eventVersion, []byte(e.text))
	case e.start:
		dst = appendBytes(dst, eventSession, binary.AppendUvarint(appendKey(nil, sessionStatus, varint), statusStart))
	default:
		var summary []byte
		for _, s := range e.values {
			value := appendKey(appendBytes(nil, valueTag, []byte(s.Tag)), valueSimple, fixed32)
			value = binary.LittleEndian.AppendUint32(value, math.Float32bits(float32(s.Value)))
			summary = appendBytes(summary, summaryValue, value)
		}
		dst = appendBytes(dst, eventSummary, summary)
	}
	return dst
}

func appendKey(dst []byte, field, wire uint64) []byte {
	return binary.AppendUvarint(dst, field<<3|wire)
}

// appendBytes appends a field that is a string or a message.
func appendBytes(dst []byte, field uint64, content []byte) []byte {
	dst = binary.AppendUvarint(appendKey(dst, field, counted), uint64(len(content)))
	return append(dst, content...)
}
