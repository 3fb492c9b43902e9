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
// # How a picture is made
//
//	Figure, Chart --scene--> marks: paths, dots, texts, hints --> svg
//	                                                         \--> png
//
// A scene is a list of marks in pixels, from back to front. Its width is fixed and its
// height follows from what is in it: the legend takes the rows that it needs, ticks
// are the finest set whose labels have room, and the left margin is as wide as the
// widest number or name. In an SVG each mark has its colour twice, as an attribute for
// any program and as a class by which a page puts in that of its light or dark
// style; marks with numbers have a title, which viewers show on pointing at them,
// and the picture has a description in words for screen readers.
//
// That is why the pictures are not those of gonum.org/v1/plot: it has neither titles
// nor classes nor descriptions, and it draws legends into the plot. Its canvas draws
// the PNG files, its fonts measure texts.
//
// The same input gives the same bytes: nothing here looks at the clock, at the
// machine or at the order of a map. What of these a page should tell, such as the
// time taken, the caller puts into Page.Facts.
package report
