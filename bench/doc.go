// Command bench compares treeloss with other libraries, side by side in one run,
// and prints one Markdown table. Use run.sh, which builds what it needs.
//
//	row --rounds times: ours, then the peer--> medians --> ours, peer, ratio, bar
//
// A peer in Python is one process that takes orders (peers.py), so that it is
// loaded once; fastText and liblinear are started anew each time, and their
// start cancels out in the slope between two numbers of epochs; OpenBLAS is
// called by the program in openblas, in turns with ours. With one thread, times
// are CPU times of the process, which other programs disturb little; with two,
// times of day. A peer that is not there is skipped, and the log says so.
//
// It is a module of its own, so that nobody who uses treeloss downloads what
// only this needs.
package main
