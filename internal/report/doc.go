// Package report draws figures and writes a page that shows them: one HTML file
// that needs no network, no script and no other file.
//
// There are two kinds of pictures. A Figure has curves over a number, on linear
// or logarithmic axes; a Chart has one row for each name, such as a method or a
// class. Both have intervals, and both are written as SVG, PNG and CSV. A Page
// holds them with text, tables, trees and facts; Save puts a page and its
// pictures into a folder.
//
// All pictures share one style: up to eight series differ in colour (after Okabe
// and Ito 2008, told apart by the colour-blind), in marker and in dashes, so that
// a grey print can be read too. Legends and tick labels never lie on data.
//
// The same input gives the same bytes: nothing here looks at the clock, at the
// machine or at the order of a map. What of these a page should tell, such as the
// time taken, the caller puts into Page.Facts.
package report
