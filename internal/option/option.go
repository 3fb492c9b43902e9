// Package option has the error for options that are out of range. The library
// checks each option once, where it is first used; a program that sets options by
// flags maps the name in the error to its own words.
package option

import "fmt"

// Error says that an option has a value that cannot be used.
type Error struct {
	Name  string // of the field, such as "Momentum"; one name means one thing in all packages
	Value any    // as it was given
	Want  string // such as "a number from 0 to below 1, such as 0.9"
}

// Error returns "Momentum is 1.5, want a number from 0 to below 1, such as 0.9".
func (e *Error) Error() string { return fmt.Sprintf("%s is %v, want %s", e.Name, e.Value, e.Want) }

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

// Hint is an error that an option would mend.
type Hint struct {
	Err    error  // what is wrong
	Advice string // what to do; %s stands for the name of the option
	Name   string
}

// Error returns what is wrong and what to do, such as "a.csv: holds numbers; name
// the column of the text with Text".
func (h *Hint) Error() string { return fmt.Sprintf("%v; "+h.Advice, h.Err, h.Name) }

// Unwrap returns what is wrong.
func (h *Hint) Unwrap() error { return h.Err }
