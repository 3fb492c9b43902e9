// Package input opens what a user hands to the program: a file or a stream of
// text, plain or packed, with or without a byte-order mark. Whatever is wrong
// with it is an *Error, file:line:column: what is wrong; what to do.
package input
