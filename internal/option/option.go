// Package option has the errors for options that are out of range or do not go
// together. The library checks each option once, where it is first used; a program
// that sets options by flags maps the names in these errors to its own words. Other
// errors name an option that would mend them as Options.Name.
package option

import (
	"fmt"
	"reflect"
	"strconv"

	"github.com/treeloss/treeloss/internal/memory"
)

// Error says that an option has a value that cannot be used.
type Error struct {
	Name  string // of the field, such as "Momentum"; one name means one thing in all packages
	Value any    // as it was given
	Want  string // such as "a number from 0 to below 1, such as 0.9"
}

// Error returns "Momentum is 1.5, want a number from 0 to below 1, such as 0.9".
func (e *Error) Error() string { return fmt.Sprintf("%s is %s, want %s", e.Name, e.Text(), e.Want) }

// Text returns the value as a person writes it; a text is quoted.
func (e *Error) Text() string {
	if v := reflect.ValueOf(e.Value); v.Kind() == reflect.String {
		return strconv.Quote(v.String())
	}
	return fmt.Sprint(e.Value)
}

// Check returns nil if ok, else the Error. Use it as
//
//	option.Check("Momentum", m, m >= 0 && m < 1, "a number from 0 to below 1, such as 0.9")
func Check(name string, value any, ok bool, want string) error {
	if ok {
		return nil
	}
	return &Error{Name: name, Value: value, Want: want}
}

// Threads returns an Error unless n is a number of goroutines, 0 for one a CPU. Each
// has memory of its own: a slip of the hand must not take the machine down.
func Threads(n int) error {
	return Check("Threads", n, n >= 0 && n <= 1024, "a number from 0, one a CPU, to 1024")
}

// Memory returns an Error unless n is a budget of memory, 0 for half of the machine's.
func Memory(n int64) error {
	return Check("Memory", n, n == 0 || n >= memory.Least, "at least "+memory.Text(memory.Least)+", such as 4G, or 0 for half of what there is")
}

// Misuse says that options do not go together, or that one is missing.
type Misuse struct {
	Text  string // each %s stands for a name
	Names []string
}

// Refuse returns a Misuse.
func Refuse(text string, names ...string) error { return &Misuse{text, names} }

// Error returns a text such as "Patience needs pictures, name them with Valid".
func (m *Misuse) Error() string { return m.In(func(name string) string { return name }) }

// In is Error in other words for the names.
func (m *Misuse) In(words func(name string) string) string {
	args := make([]any, len(m.Names))
	for i, name := range m.Names {
		args[i] = words(name)
	}
	return fmt.Sprintf(m.Text, args...)
}

// Exclude returns a Misuse if both options are set, else nil.
func Exclude(a string, aSet bool, b string, bSet bool, why string) error {
	if !aSet || !bSet {
		return nil
	}
	return Refuse("%s and %s exclude each other: "+why, a, b)
}
