// Package kernel holds the inner loops of training and prediction: vector
// updates, dot products, sums of sparse and dense rows, softmax, matrix products
// (Product), a whole training step on dense rows (Dense), products with the K of
// a label tree (Tree), and parallel loops whose results do not depend on the number
// of threads (Parallel, and Team for steps that must not start goroutines).
//
// The functions are generic over float32 (in use) and float64 (in tests of
// identities). Loops over float64 are plain Go. Loops over float32 run in
// assembly for AVX-512 or AVX2 where the processor has it, chosen when the
// program starts; the build tag noasm, and any other processor, select the
// plain Go version of each.
//
// # What may differ between processors
//
// A result depends on its arguments and on the kind of processor alone, not
// on threads, addresses or earlier calls. AVX-512 and AVX2 give the same bits:
// both do the same operations on each number and add up in the same order.
// Plain Go differs in the last digits, since it rounds each product before it
// adds it and groups sums in another way. Both stay within
//
//	(n+2) * 2^-24 * sum of |terms|
//
// of the exact sum of n products of float32, and within the bounds told at Softmax
// and Exp; the package's tests hold them to that.
//
// Matrix products and sums of rows make each number by one chain of fused
// multiply-adds in the order of the inner index, so tiles, blocks and threads
// change no bit.
//
// # What is checked
//
// Slices shorter than a function asks for panic, as a slice expression does,
// and so does a row outside its array. Nothing is read or written past the
// lengths of slices, and nothing is allocated.
//
// The assembly and its declarations are written by the generator in _gen.
package kernel

//go:generate go run -C _gen . -out ../kernel_amd64.s -stubs ../kernel_amd64.go -pkg kernel
