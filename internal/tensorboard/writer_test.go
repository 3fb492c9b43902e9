package tensorboard

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/treeloss/treeloss/internal/tensorboard/eventtest"
)

func clock() time.Time { return time.Unix(1_700_000_000, 250_000_000) }

// What is written is read back by another reader, NaN and zero too.
func TestWriterWritesEvents(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "new", "run")
	w, err := create(folder, 1, clock)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Scalars(300, Scalar{"loss/train", 0.5}, Scalar{"größe", 0}); err != nil {
		t.Fatal(err)
	}
	if err := w.Scalars(1<<40, Scalar{"loss/train", math.NaN()}, Scalar{"rate", math.Inf(-1)}, Scalar{"long", 1e-3}); err != nil {
		t.Fatal(err)
	}
	files, events, err := eventtest.ReadFolder(folder) // before Close: a viewer looks on
	if err != nil || len(files) != 1 {
		t.Fatalf("files %v, error %v", files, err)
	}
	if !regexp.MustCompile(`^events\.out\.tfevents\.1700000000\.[^/\\:]+$`).MatchString(filepath.Base(files[0])) {
		t.Errorf("name %s", files[0])
	}
	var got []string
	for _, e := range events[0] {
		got = append(got, fmt.Sprint(e)) // maps print in the order of their keys
	}
	want := []string{
		"{1.70000000025e+09 0 brain.Event:2 0 map[]}",
		"{1.70000000025e+09 1  1 map[]}",
		"{1.70000000025e+09 300  0 map[größe:0 loss/train:0.5]}",
		"{1.70000000025e+09 1099511627776  0 map[long:0.001 loss/train:NaN rate:-Inf]}",
	}
	if !slices.Equal(got, want) {
		t.Errorf("events\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	if err := w.Scalars(1, Scalar{"x", 1}); err == nil {
		t.Error("a closed file takes events")
	}
	if err := w.Close(); err == nil {
		t.Error("a file is closed twice")
	}
}

// The record that begins a file, at 1456445596 seconds, has known checksums:
// those of a file that TensorFlow wrote, in the test of its event file loader. The
// checksum of 32 zeros is RFC 3720's (B.4), its mask worked out by hand: 8a9136aa
// rotated right by 15 bits is 6d551522, and a282ead8 more is 0fd7fffa.
func TestKnownChecksums(t *testing.T) {
	got := appendRecord(nil, event{wall: 1456445596, text: fileVersion}.append(nil))
	if sums := hex.EncodeToString(got[8:12]) + " " + hex.EncodeToString(got[len(got)-4:]); len(got) != 40 || sums != "a37f4b22 6a4d0b15" {
		t.Errorf("%d bytes, checksums %s", len(got), sums)
	}
	if got := masked(make([]byte, 32)); got != 0x0fd7fffa {
		t.Errorf("masked checksum of zeros %08x", got)
	}
}

// A changed bit anywhere is found by the checksums, so these cover all bytes.
func TestChecksumsCoverAll(t *testing.T) {
	record := appendRecord(nil, event{wall: 1, step: 2, values: []Scalar{{"loss", 3}}}.append(nil))
	if _, err := eventtest.Read(record); err != nil {
		t.Fatal(err)
	}
	for i := range 8 * len(record) {
		bad := bytes.Clone(record)
		bad[i/8] ^= 1 << (i % 8)
		if _, err := eventtest.Read(bad); err == nil {
			t.Errorf("bit %d is not covered", i)
		}
	}
}

// Any scalar comes back as it was.
func FuzzScalars(f *testing.F) {
	f.Add("loss/train", int64(1), 0.5)
	f.Add("", int64(-1), math.NaN())
	f.Fuzz(func(t *testing.T, tag string, step int64, value float64) {
		events, err := eventtest.Read(appendRecord(nil, event{wall: 1.5, step: step, values: []Scalar{{tag, value}}}.append(nil)))
		if err != nil || len(events) != 1 {
			t.Fatalf("%d events, error %v", len(events), err)
		}
		e := events[0]
		got, ok := e.Scalars[tag]
		if e.Wall != 1.5 || e.Step != step || !ok || math.Float32bits(got) != math.Float32bits(float32(value)) {
			t.Errorf("%+v", e)
		}
	})
}

// Runs that start in the same second have files of their own, in order.
func TestCreateKeepsOtherFiles(t *testing.T) {
	folder := t.TempDir()
	for step := range int64(3) {
		w, err := create(folder, step+1, clock)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	files, events, err := eventtest.ReadFolder(folder)
	if err != nil || len(files) != 3 {
		t.Fatalf("files %v, error %v", files, err)
	}
	for i, e := range events {
		if len(e) != 2 || e[1].Step != int64(i+1) || e[1].Session != 1 {
			t.Errorf("file %d: %+v", i, e)
		}
	}
}

func TestCreateRefuses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(file, 1); err == nil || !strings.Contains(err.Error(), "tensorboard: folder") || strings.Contains(err.Error(), "\n") {
		t.Errorf("a file for a folder: %v", err)
	}
	folder := t.TempDir()
	if err := os.Chmod(folder, 0o500); err != nil {
		t.Fatal(err)
	}
	probe, err := os.Create(filepath.Join(folder, "probe"))
	if err == nil {
		probe.Close()
		t.Skip("this user may write everywhere, as root does")
	}
	if _, err := Create(folder, 1); err == nil || !strings.Contains(err.Error(), "tensorboard: event file") {
		t.Errorf("a folder that cannot be written: %v", err)
	}
}
