// Package eventtest reads TensorBoard's event files in tests. It shares no code
// with the writer.
package eventtest

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"os"
	"path/filepath"
)

// Event is one event of a file.
type Event struct {
	Wall    float64
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

// Read decodes a file, and checks both checksums of each record.
func Read(file []byte) (events []Event, err error) {
	for len(file) > 0 {
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
		e, err := Decode(data)
		if err != nil {
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

// Decode decodes an Event; fields that it does not know are an error.
func Decode(message []byte) (e Event, err error) {
	err = fields(message, func(field, wire uint64, x uint64, content []byte) error {
		switch field<<3 | wire {
		case 1<<3 | 1:
			e.Wall = math.Float64frombits(x)
		case 2 << 3:
			e.Step = int64(x)
		case 3<<3 | 2:
			e.Version = string(content)
		case 7<<3 | 2:
			return fields(content, func(field, wire, x uint64, _ []byte) error {
				e.Session = x
				return known(field<<3|wire == 1<<3)
			})
		case 5<<3 | 2:
			e.Scalars = make(map[string]float32)
			return fields(content, func(field, wire, _ uint64, content []byte) error {
				var tag string
				err := fields(content, func(field, wire, x uint64, content []byte) error {
					switch field<<3 | wire {
					case 1<<3 | 2:
						tag = string(content)
					case 2<<3 | 5:
						e.Scalars[tag] = math.Float32frombits(uint32(x))
					default:
						return known(false)
					}
					return nil
				})
				if err != nil {
					return err
				}
				return known(field<<3|wire == 1<<3|2)
			})
		default:
			return known(false)
		}
		return nil
	})
	return e, err
}

func known(ok bool) error {
	if ok {
		return nil
	}
	return fmt.Errorf("an unknown field")
}

// fields calls use with each field of a message: x is a number's bits, content
// what is counted.
func fields(message []byte, use func(field, wire, x uint64, content []byte) error) error {
	for len(message) > 0 {
		key, n := binary.Uvarint(message)
		if n <= 0 {
			return fmt.Errorf("no key in %x", message)
		}
		message = message[n:]
		var x uint64
		var content []byte
		switch wire := key & 7; {
		case wire == 0 || wire == 2:
			if x, n = binary.Uvarint(message); n <= 0 {
				return fmt.Errorf("no number in %x", message)
			}
			if message = message[n:]; wire == 2 {
				if x > uint64(len(message)) {
					return fmt.Errorf("%d bytes wanted, %d left", x, len(message))
				}
				content, message = message[:x], message[x:]
			}
		case wire == 1 && len(message) >= 8:
			x, message = binary.LittleEndian.Uint64(message), message[8:]
		case wire == 5 && len(message) >= 4:
			x, message = uint64(binary.LittleEndian.Uint32(message)), message[4:]
		default:
			return fmt.Errorf("wire type %d, %d bytes left", wire, len(message))
		}
		if err := use(key>>3, key&7, x, content); err != nil {
			return err
		}
	}
	return nil
}
