package dataset

import (
	"regexp"
	"strings"
	"testing"
)

// wide returns ASCII and Latin-1 text as UTF-16 with a byte-order mark.
func wide(text string, bigEndian bool) string {
	var b strings.Builder
	for _, r := range "\ufeff" + text {
		low, high := byte(r), byte(r>>8)
		if bigEndian {
			low, high = high, low
		}
		b.WriteByte(low)
		b.WriteByte(high)
	}
	return b.String()
}

// The files that spreadsheets write are read at the first try, but for the one whose
// encoding nothing tells.
func TestSpreadsheets(t *testing.T) {
	for _, tc := range []struct {
		name, file, data string
		encoding         string
		text             string  // of the second row
		value            float64 // of the second row, if it has no text
		found            string  // the end of Describe
	}{
		{name: "Excel in Germany, CSV UTF-8", file: "a.csv",
			data: "\ufeffArt;Label;Frage\r\n1;Karte;\"Wo ist sie; sagt es mir\"\r\n2;Geld;Größe, bitte\r\n",
			text: "Größe, bitte", found: `text column "Frage"; separated by semicolons`},
		{name: "Excel in France, CSV", file: "a.csv", encoding: "windows-1252",
			data:  "label;prix;poids\r\ncaf\xe9;1,5;-3,25E+02\r\nth\xe9;2,75;4\r\n",
			value: 2.75, found: "; windows-1252, separated by semicolons, with decimal commas"},
		{name: "Excel, Unicode text named .csv", file: "a.csv",
			data: wide("label\ttext\r\nKarte\t\"a, b; c\"\r\nGeld\tGröße\r\n", false),
			text: "Größe", found: "; UTF-16, separated by tabs"},
		{name: "UTF-16 of the other byte order, packed by nobody", file: "-",
			data: wide("label,text\nKarte,a\nGeld,Größe\n", true),
			text: "Größe", found: "; UTF-16"},
		{name: "a line for Excel in front, integers first", file: "a.csv",
			data:  "sep=;\r\n\"label, short\";\"x,y,z\"\r\na;12\r\nb;0,5\r\n",
			value: 0.5, found: "; separated by semicolons, with decimal commas"},
		{name: "a separator of one's own", file: "a.csv", data: "\"sep=|\"\nlabel|text\na|1\nb|c,d;e\n",
			text: "c,d;e", found: `; separated by "|"`},
		{name: "decimal points between semicolons", file: "a.csv", data: "label;x\na;1\nb;1.25\n",
			value: 1.25, found: "; separated by semicolons"},
		{name: "semicolons inside a header of commas", file: "a.csv", data: "label,\"text;a;b;c\",text\na,b,c\nd,e,f\n",
			text: "f", found: `text column "text"`},
		{name: "as ever", file: "a.csv", data: "label,text\na,b\nd,1;2\n", text: "1;2", found: `text column "text"`},
	} {
		opts := Options{Encoding: tc.encoding}
		if strings.Contains(tc.data, "Frage") {
			opts.Text = "frage"
		}
		if strings.Contains(tc.data, "label, short") {
			opts.Label = "label, short"
		}
		r, err := NewReader(strings.NewReader(tc.data), tc.file, opts)
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		var rows []Example
		for ex, err := range r.All() {
			if err != nil {
				t.Fatalf("%s: %v", tc.name, err)
			}
			rows = append(rows, ex.Clone())
		}
		if len(rows) != 2 {
			t.Fatalf("%s: %d rows, want 2", tc.name, len(rows))
		}
		last := rows[1]
		if last.Text != tc.text || tc.text == "" && last.Values[0] != tc.value {
			t.Errorf("%s: text %q, values %v, want %q, %v", tc.name, last.Text, last.Values, tc.text, tc.value)
		}
		if got := leftOut.ReplaceAllString(r.Describe(), ""); !strings.HasSuffix(got, tc.found) {
			t.Errorf("%s: %q, want it to end in %q", tc.name, got, tc.found)
		}
		if tc.encoding != "" && last.Label != "thé" {
			t.Errorf("%s: label %q", tc.name, last.Label)
		}
	}
}

func TestUnknownEncoding(t *testing.T) {
	_, err := NewReader(strings.NewReader("label,text\na,b\n"), "a.csv", Options{Encoding: "klingon"})
	if err == nil || err.Error() != `Encoding is "klingon", want a name such as windows-1252, iso-8859-15 or utf-16le` {
		t.Errorf("error %v", err)
	}
}

// leftOut is what Describe says of columns that play no part.
var leftOut = regexp.MustCompile(` \(columns? .* left out\)`)
