package metric

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
)

func TestReadDistances(t *testing.T) {
	labels := []string{"cat", "dog", "emu"}
	want := []float64{1, 4, 3.5}
	for name, text := range map[string]string{
		"each pair once":        "cat dog 1\ncat emu 4\ndog emu 3.5\n",
		"with itself":           "cat cat 0\ncat dog 1\ncat emu 4\ndog dog 0\ndog emu 3.5\nemu emu -0\n",
		"in another order":      "emu dog 35e-1\nemu cat 4\ndog cat 1",
		"both ways":             "cat dog 1\ndog cat 1.0000000001\ncat emu 4\nemu cat 4\nemu dog 3.5\n",
		"others beside":         "cat x 7\ncat dog 1\nx y 9\ncat emu 4\nx x 2\ndog emu 3.5\n",
		"tabs":                  "cat\tdog\t1\ncat\temu\t4\n dog \t emu\t3.5\n",
		"commas":                "cat,dog,1\ncat,emu,4\ndog, emu, 3.5\n",
		"a header":              "a b distance\ncat dog 1\ncat emu 4\ndog emu 3.5\n",
		"a header, tabs":        "\n\nfrom\tto\thow far\ncat\tdog\t1\ncat\temu\t4\ndog\temu\t3.5\n",
		"mark, CRLF and spaces": "\ufeff cat  dog 1 \r\n\r\ncat emu   4\r\ndog emu 3.5",
		"a long line":           "cat dog 1" + strings.Repeat(" ", 200_000) + "\ncat emu 4\ndog emu 3.5",
	} {
		s, err := ReadDistances(strings.NewReader(text), "f", labels)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if err := Check(s); err != nil || s.Len() != 3 {
			t.Errorf("%s: %v", name, err)
		}
		for i, d := range pairwise(s) {
			if d != want[i] {
				t.Errorf("%s: %v, want %v", name, pairwise(s), want)
				break
			}
		}
	}
	s, err := ReadDistances(strings.NewReader("red fox\tice bear\t2\n"), "f", []string{"ice bear", "red fox"})
	if err != nil || s.Distance(0, 1) != 2 {
		t.Errorf("names with spaces: %v", err)
	}
	for k := range 2 { // one label, or none, needs no distances
		if s, err := ReadDistances(strings.NewReader(""), "f", labels[:k]); err != nil || s.Len() != k {
			t.Errorf("%d labels: %v", k, err)
		}
	}
}

func TestReadDistancesRefuses(t *testing.T) {
	labels := []string{"cat", "dog", "emu"}
	const rest = "cat emu 4\ndog emu 3.5\n"
	for _, tc := range []struct{ name, text, want string }{
		{"nothing", "", "f: is empty, want a list of distances"},
		{"a blank line", "\n", `f: 3 of the 3 labels do not occur: "cat", "dog", "emu"; add their distances`},
		{"a label missing", "cat dog 1\n", `f: 1 of the 3 labels do not occur: "emu"`},
		{"a pair missing", rest, `f: 1 of the 3 pairs of labels have no distance: "cat" and "dog"; add them`},
		{"two fields", "cat dog 1\ncat emu\n", `f:2: "cat emu", want two names and a distance; put tabs`},
		{"four fields", "cat dog 1\nbig cat emu 3\n", `f:2: "big cat emu 3", want two names`},
		{"four fields with tabs", "cat\tdog\t1\ncat\temu\t4\t5\n", `f:2: "cat\temu\t4\t5", want two names`},
		{"an empty name", "cat\tdog\t1\n\temu\t4\n", `f:2: "\temu\t4", want two names`},
		{"no number", "cat dog 1\ncat emu far\n", `f:2: the distance of "cat" and "emu" is "far", want a finite number, 0 or more`},
		{"NaN", "cat dog NaN\n", `f:1: the distance of "cat" and "dog" is "NaN"`},
		{"infinite", "cat dog 1e999\n", `f:1: the distance of "cat" and "dog" is "1e999"`},
		{"negative", "cat dog -1\n", `f:1: the distance of "cat" and "dog" is "-1"`},
		{"of others, negative", "x y -1\n", `f:1: the distance of "x" and "y" is "-1"`},
		{"not 0 to itself", "cat cat 1\n", `f:1: the distance of "cat" to itself is 1, want 0`},
		{"two distances", "cat dog 1\ncat emu 4\ndog cat 2\n", `f:3: the distance of "dog" and "cat" is 2, but 1 on a line before; keep one`},
		{"not UTF-8", "cat dog 1\n\xff emu 1\n", "f:2:1: invalid UTF-8: byte 0xff at byte offset 10; save the file as UTF-8"},
		{"a line without end", "cat dog 1\n" + strings.Repeat("x", 2<<20), "f:2: line is longer than 1048576 bytes; is this a list of distances?"},
		{"xz", "\xfd7zXZ\x00\x00", "f: is packed with xz; unpack it, or pack it with gzip or zstd"},
		{"gzip, cut", "\x1f\x8b\x08", "f: begins like gzip but is not: unexpected EOF"},
		{"zstd, cut", "\x28\xb5\x2f\xfd", "f: the zstd data ends early"},
	} {
		_, err := ReadDistances(strings.NewReader(tc.text), "f", labels)
		if err == nil || !strings.HasPrefix(err.Error(), tc.want) {
			t.Errorf("%s: got %v, want %s", tc.name, err, tc.want)
		}
		if _, ok := errors.AsType[*ListError](err); !ok {
			t.Errorf("%s: %T, want a *ListError", tc.name, err)
		}
	}
	var many []string
	for i := range 50 {
		many = append(many, fmt.Sprint(i))
	}
	if _, err := ReadDistances(strings.NewReader("0 1 5\n"), "f", many); err == nil || !strings.Contains(err.Error(), `48 of the 50 labels do not occur: "2", "3", "4", "5", "6" and 43 more`) {
		t.Errorf("many labels missing: %v", err)
	}
	for _, labels := range [][]string{{"a", "a"}, {"a", ""}} {
		if _, err := ReadDistances(strings.NewReader("a b 1\n"), "f", labels); err == nil {
			t.Errorf("labels %q passed", labels)
		}
	}
	broken := errors.New("broken disk")
	in := io.MultiReader(strings.NewReader("cat dog 1\n"), readerFunc(func([]byte) (int, error) { return 0, broken }))
	if _, err := ReadDistances(in, "f", labels); !errors.Is(err, broken) || !strings.HasPrefix(err.Error(), "f:2: ") {
		t.Errorf("a broken disk: %v", err)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// TestReadDistancesRoundTrip writes a random metric in random order, with names
// that are no labels between, and gets every bit back.
func TestReadDistancesRoundTrip(t *testing.T) {
	const k = 40
	want, err := Euclidean(randomRows(7, k, 5))
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for i := range k {
		for j := i; j < k; j++ {
			lines = append(lines, fmt.Sprintf("c%d c%d %v\n", j, i, want.Distance(i, j)), fmt.Sprintf("c%d x%d 3\n", i, j))
		}
	}
	random := rand.New(rand.NewPCG(1, 1))
	random.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
	var labels []string
	for i := range k {
		labels = append(labels, fmt.Sprint("c", i))
	}
	got, err := ReadDistances(strings.NewReader(strings.Join(lines, "")), "f", labels)
	if err != nil {
		t.Fatal(err)
	}
	for i := range k {
		for j := range k {
			if got.Distance(i, j) != want.Distance(i, j) {
				t.Fatalf("%d, %d: %v, want %v", i, j, got.Distance(i, j), want.Distance(i, j))
			}
		}
	}
}

// TestImageNetDistances reads the real list: 941,878 lines, of which the 200
// classes of tiny-imagenet need 19,900. It is an ultrametric with values 2..15.
func TestImageNetDistances(t *testing.T) {
	const data = "../../shared/data/"
	classes, err := os.Open(data + "tiny-imagenet/classes.csv")
	if err != nil {
		t.Skipf("the real data of ../shared is not beside the repository: %v", err)
	}
	defer classes.Close()
	rows, err := csv.NewReader(classes).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var labels []string
	for _, row := range rows[1:] {
		labels = append(labels, row[0])
	}
	packed, err := os.Open(data + "label-vectors/imagenet-1k-distances.txt.xz")
	if err != nil {
		t.Skipf("the real data of ../shared is not beside the repository: %v", err)
	}
	defer packed.Close()
	if _, err := ReadDistances(packed, "d.xz", labels); err == nil || err.Error() != "d.xz: is packed with xz; unpack it, or pack it with gzip or zstd" {
		t.Errorf("packed: %v", err)
	}
	unpack := exec.Command("xz", "-dc", packed.Name())
	list, err := unpack.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := unpack.Start(); err != nil {
		t.Skipf("xz, which unpacks the real data, is not installed: %v", err)
	}
	s, err := ReadDistances(list, "distances", labels)
	if err != nil {
		t.Fatal(err)
	}
	if err := unpack.Wait(); err != nil {
		t.Fatal(err)
	}
	least, most := math.Inf(1), 0.0
	for _, d := range pairwise(s) {
		least, most = min(least, d), max(most, d)
	}
	if s.Len() != 200 || least != 2 || most != 15 {
		t.Errorf("%d labels at %v to %v, want 200 at 2 to 15", s.Len(), least, most)
	}
	if err := CheckTriangle(s, 100_000, 1); err != nil {
		t.Error(err)
	}
}

func FuzzReadDistances(f *testing.F) {
	f.Add("a b 1\na c 2\nb c 3\n", "a|b|c")
	f.Add("x\ty\td\na\tb c\t1e-3\n", "a|b c")
	f.Add("\ufeffa,b,0\r\n", "a|b")
	f.Add("a a 0\n\na b -1", "a|b")
	f.Fuzz(func(t *testing.T, text, joined string) {
		labels := strings.Split(joined, "|")
		s, err := ReadDistances(strings.NewReader(text), "f", labels)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Fatalf("an error on several lines: %q", err)
			}
			return
		}
		if err := Check(s); err != nil || s.Len() != len(labels) {
			t.Fatalf("%d labels: %v", s.Len(), err)
		}
	})
}

func BenchmarkReadDistances(b *testing.B) {
	var text strings.Builder
	var labels []string
	for i := range 300 {
		labels = append(labels, fmt.Sprintf("n%08d", i))
		for j := range i + 1 {
			fmt.Fprintf(&text, "n%08d n%08d %d\n", j, i, (i^j)&15)
		}
	}
	in := text.String()
	b.SetBytes(int64(len(in)))
	for b.Loop() {
		if _, err := ReadDistances(strings.NewReader(in), "f", labels); err != nil {
			b.Fatal(err)
		}
	}
}

func ExampleReadDistances() {
	list := "cat dog 2\ncat bus 9\ndog bus 9\ncat car 9\n"
	s, err := ReadDistances(strings.NewReader(list), "distances.txt", []string{"bus", "cat", "dog"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s.Distance(0, 1), s.Distance(1, 2))
	_, err = ReadDistances(strings.NewReader(list), "distances.txt", []string{"bus", "car", "cat", "dog"})
	fmt.Println(err)
	// Output:
	// 9 2
	// distances.txt: 2 of the 6 pairs of labels have no distance: "bus" and "car", "car" and "dog"; add them
}
