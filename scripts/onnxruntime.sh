#!/usr/bin/env bash
# Gets the ONNX Runtime library out of the npm package onnxruntime-node and
# prints the line that tells treeloss where it is. Needs npm and tar.
#
#   eval "$(scripts/onnxruntime.sh [folder])"
#
# The folder is build/onnxruntime by default; what is there already is kept.
set -euo pipefail
version=1.30.0
folder=${1:-build/onnxruntime}
case "$(uname -s)/$(uname -m)" in
  Linux/x86_64) library=linux/x64/libonnxruntime.so.1 ;;
  Linux/aarch64) library=linux/arm64/libonnxruntime.so.1 ;;
  Darwin/arm64) library=darwin/arm64/libonnxruntime.1.dylib ;;
  *) echo "onnxruntime.sh: no library for $(uname -s)/$(uname -m) in the package" >&2; exit 1 ;;
esac
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
file=$folder/$(basename "$library")
if [ ! -s "$file" ]; then
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  (cd "$work" && npm pack --silent "onnxruntime-node@$version" >&2 && tar -xzf onnxruntime-node-*.tgz "package/bin/napi-v6/$library")
  mv "$work/package/bin/napi-v6/$library" "$file"
fi
echo "export ONNXRUNTIME_SHARED_LIBRARY_PATH='$file'"
