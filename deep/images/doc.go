// Package images makes batches of float32 pixels of labelled pictures, in the
// order and with the crops and flips that a seed and an epoch draw:
//
//	dataset.Images --Measure--> Scale
//	dataset.Images, Scale, Options --New--> Set --Batch(rows, epoch)--> tensors
//	dataset.Folder, side, Scale, Options --NewFolder--> Set --Batch--> tensors
//	path --Open--> Pictures, of either kind --Data--> Set
//
// The pictures of New are in memory; those of NewFolder are read and decoded, in
// parallel, when they are wanted.
//
// What happens to a picture depends on the seed, the epoch and its number alone:
// not on the batch it is in, on the backend or on the number of processors. So a
// run that is resumed sees what it would have seen.
package images
