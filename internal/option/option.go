// Package option has the error for options that are out of range. The library
// checks each option once, where it is first used; a program that sets options by
// flags maps the name in the error to its own words.
package option

import (
	"fmt"
	"reflect"
	"strconv"
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

// Conflict says that two options that are both set exclude each other.
type Conflict struct {
	A, B string // their names
	Why  string
}

// Error returns "Confidence and Reject exclude each other: " and why.
func (c *Conflict) Error() string {
	return fmt.Sprintf("%s and %s exclude each other: %s", c.A, c.B, c.Why)
}

// Exclude returns a Conflict if both options are set, else nil.
func Exclude(a string, aSet bool, b string, bSet bool, why string) error {
	if aSet && bSet {
		return &Conflict{a, b, why}
	}
	return nil
}

// Hint is an error that options would mend.
type Hint struct {
	Err    error  // what is wrong; nil: the advice says all
	Advice string // what to do; each %s stands for a name
	Names  []string
}

// Advise returns a Hint. Without err the call was wrong.
func Advise(err error, advice string, names ...string) error { return &Hint{err, advice, names} }

// Error returns what is wrong and what to do, such as "a.csv: holds numbers; name
// the column of the text with Text".
func (h *Hint) Error() string { return h.In(func(name string) string { return name }) }

// In is Error in other words for the names.
func (h *Hint) In(words func(name string) string) string {
	args := make([]any, len(h.Names))
	for i, name := range h.Names {
		args[i] = words(name)
	}
	advice := fmt.Sprintf(h.Advice, args...)
	if h.Err == nil {
		return advice
	}
	return h.Err.Error() + "; " + advice
}

// Unwrap returns what is wrong.
func (h *Hint) Unwrap() error { return h.Err }
