// Package input opens what a user hands to the program: a file or a stream of
// text, plain or packed, with or without a byte-order mark. Whatever is wrong
// with it is an *Error, file:line:column: what is wrong; what to do.
//
// The first bytes say what it is, whatever its name: gzip and zstd are unpacked, a
// byte-order mark is taken off, UTF-16 that has one is decoded, and what cannot be text
// (UTF-32, zip, pictures, pickles, other ways to pack) is refused by its own name, since
// "invalid UTF-8" would leave the user guessing. Other text that is not UTF-8 is decoded
// as Options.Encoding says: no guess is good enough to train on. A name that promises
// packed data must keep the promise.
//
// Nothing is believed before it has arrived: a line has a bound, a zstd frame may not
// ask for more memory than its window, and packed data that ends early or has a wrong
// checksum is an error at the line that it keeps from being read. Streams are read no
// farther than they give at once, so that lines typed at a terminal are answered one
// by one.
//
// Options.Want says what the caller reads, for the messages: "is empty, want a file of
// examples".
package input
