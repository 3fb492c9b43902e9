// Package eventtest reads TensorBoard's event files in tests. It shares no code
// with the writer, but for the wire format of Protocol Buffers.
package eventtest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"os"
	"path/filepath"

	"google.golang.org/protobuf/encoding/protowire"
)

// Event is one event of a file.
type Event struct {
	Wall    float64 // seconds since 1970
	Step    int64
	Version string             // of the first event
	Session uint64             // status of a session: 1 is start
	Scalars map[string]float32 // nil: no summary
}

// ReadFolder reads the files of a folder in the order of their names.
func ReadFolder(folder string) (files []string, events [][]Event, err error) {
	if files, err = filepath.Glob(filepath.Join(folder, "events.out.tfevents.*")); err != nil {
		return nil, nil, err
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, nil, err
		}
		all, err := Read(data)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", file, err)
		}
		events = append(events, all)
	}
	return files, events, nil
}

// Read decodes a file, and checks both checksums of each record. A record that is cut
// off, as by a crash, is an error.
func Read(file []byte) (events []Event, err error) {
	for len(file) > 0 {
		// Length, its checksum and that of the data take 16 bytes.
		if len(file) < 16 {
			return nil, fmt.Errorf("%d bytes are left", len(file))
		}
		if err := check(file[:8], file[8:12]); err != nil {
			return nil, err
		}
		n := binary.LittleEndian.Uint64(file)
		if n > uint64(len(file)-16) {
			return nil, fmt.Errorf("a record of %d bytes, %d are left", n, len(file)-16)
		}
		data := file[12 : 12+n]
		if err := check(data, file[12+n:16+n]); err != nil {
			return nil, err
		}
		var e Event
		if err := e.decode(data); err != nil {
			return nil, err
		}
		events, file = append(events, e), file[16+n:]
	}
	return events, nil
}

// check takes the mask off a checksum and compares.
func check(data, sum []byte) error {
	x := binary.LittleEndian.Uint32(sum) - 0xa282ead8
	if x, want := x>>17|x<<15, crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli)); x != want {
		return fmt.Errorf("checksum %08x of %d bytes, want %08x", x, len(data), want)
	}
	return nil
}

// errUnknown says that a message has what the writer should not write.
var errUnknown = errors.New("an unknown field")

// decode decodes an Event; fields that it does not know are an error.
func (e *Event) decode(message []byte) error {
	return fields(message, func(tag uint64, x uint64, content []byte) error {
		// Field number and wire type: 0 varint, 1 fixed64, 2 counted, 5 fixed32.
		switch tag {
		case 1<<3 | 1:
			e.Wall = math.Float64frombits(x)
		case 2 << 3:
			e.Step = int64(x)
		case 3<<3 | 2:
			e.Version = string(content)
		case 7<<3 | 2:
			return fields(content, only(1<<3, func(x uint64, _ []byte) error { e.Session = x; return nil }))
		case 5<<3 | 2:
			e.Scalars = make(map[string]float32)
			return fields(content, only(1<<3|2, e.scalar))
		default:
			return errUnknown
		}
		return nil
	})
}

// scalar decodes a value of a summary: its tag, which comes first, and the number.
func (e *Event) scalar(_ uint64, message []byte) error {
	var name string
	return fields(message, func(tag, x uint64, content []byte) error {
		switch tag {
		case 1<<3 | 2:
			name = string(content)
		case 2<<3 | 5:
			e.Scalars[name] = math.Float32frombits(uint32(x))
		default:
			return errUnknown
		}
		return nil
	})
}

// only takes fields of one tag.
func only(want uint64, use func(x uint64, content []byte) error) func(tag, x uint64, content []byte) error {
	return func(tag, x uint64, content []byte) error {
		if tag != want {
			return errUnknown
		}
		return use(x, content)
	}
}

// fields calls use with each field of a message: tag is number<<3 | wire type, x a
// number's bits, content what is counted.
func fields(message []byte, use func(tag, x uint64, content []byte) error) error {
	for len(message) > 0 {
		number, wire, n := protowire.ConsumeTag(message)
		if n < 0 {
			return protowire.ParseError(n)
		}
		message = message[n:]
		var x uint64
		var content []byte
		switch wire {
		case protowire.VarintType:
			x, n = protowire.ConsumeVarint(message)
		case protowire.Fixed64Type:
			x, n = protowire.ConsumeFixed64(message)
		case protowire.Fixed32Type:
			var short uint32
			short, n = protowire.ConsumeFixed32(message)
			x = uint64(short)
		case protowire.BytesType:
			content, n = protowire.ConsumeBytes(message)
		default:
			return errUnknown
		}
		if n < 0 {
			return protowire.ParseError(n)
		}
		message = message[n:]
		if err := use(protowire.EncodeTag(number, wire), x, content); err != nil {
			return err
		}
	}
	return nil
}
