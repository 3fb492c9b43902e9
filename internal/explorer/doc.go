// Package explorer shows a model to people: one page with the tree of its classes, a map of
// its confusions, and what a text does to both.
//
//	classify.Classifier --New--> Explorer --Measure(examples)--> counts, confusions, examples
//	                                |
//	                                +--Piece(name)--> JSON that the page asks for, served
//	                                +--Why(text)----> probabilities down the tree, evidence
//	                                `--Save(folder)-> the page and all pieces as files
//
// The page (page/) is plain HTML, CSS and JavaScript inside the program; it fetches nothing
// from a network. Numbers of all nodes or classes come as columns of 32-bit integers in
// base64, so that 100,000 classes are some megabytes and are read at once; what is known
// about single classes comes when it is asked for. Names and texts are not
// trusted: they are cut here, and the page sets them as text, never as HTML.
package explorer
