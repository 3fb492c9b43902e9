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
