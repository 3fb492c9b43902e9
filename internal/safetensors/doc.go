// Package safetensors writes and reads the safetensors layout, byte for byte
// as the Python library does, so that numpy, PyTorch and JAX open our models
// and we open theirs.
//
//	8 bytes   n, the length of the header, little-endian
//	n bytes   the header: one JSON object, padded with spaces to a multiple of 8
//	the rest  the tensors, little-endian, row-major, one after the other
//
// The header maps each tensor's name to its dtype, shape and data_offsets
// (first byte and the byte after the last, counted from the end of the
// header), and "__metadata__" to a map of strings to strings.
//
// Write puts the widest types first and orders equal types by name, as the
// Python library does, so every tensor starts at a multiple of its element
// size. Metadata keys are sorted and nothing depends on time or place: equal
// content gives equal bytes.
//
// # Checksums
//
// Write adds two metadata entries. "checksum" is 64 lower-case hexadecimal digits, the
// SHA-256 of the whole file with these digits, and those of "crc32c", set to '0'; it
// names the content. "crc32c" is 8 such digits, the CRC-32C (Castagnoli) of the whole
// file, big-endian, with these 8 set to '0'; it is what File.Verify computes again, in a
// fraction of the time. As every byte of the file counts, its length and the white space
// of its header included, Verify finds all changes but one in four billion that spread
// over more than 32 bits. Of a file without a CRC it computes the checksum. A file of
// another program has neither; Read takes it and Verify refuses it.
//
// The flow: Tensor values -> File -> WriteFile, and ReadFile or Map -> Verify ->
// File.Tensor -> Float32s.
package safetensors
