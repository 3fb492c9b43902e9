#!/bin/sh
# Generates the assembly anew in a temporary folder and fails if it differs
# from the committed files. Needs the network once, for avo.
set -eu
cd "$(dirname "$0")"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
mkdir "$tmp/_gen"
cp ./*.go go.mod go.sum "$tmp/_gen"
(cd "$tmp/_gen" && go run . -out ../kernel_amd64.s -stubs ../kernel_amd64.go -pkg kernel)
for file in kernel_amd64.s kernel_amd64.go; do
	if ! cmp "$tmp/$file" "../$file"; then
		echo "internal/kernel/$file is not what _gen generates: run go generate ./internal/kernel" >&2
		exit 1
	fi
done
