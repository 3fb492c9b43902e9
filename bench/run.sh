#!/bin/sh
# Compares treeloss with other libraries and prints a Markdown table.
#
#   bench/run.sh [flags of the program, such as -slow or -only step]
#
# It installs nothing: what is missing is skipped, and the log on stderr says
# so. PYTHON names a Python that has torch and sklearn, CLINC150 a folder with
# train.csv and test.csv.
set -eu
unset OPENBLAS_CORETYPE # OpenBLAS is to choose its kernels by the processor, as ours are chosen
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
CGO_ENABLED=0 go build -C .. -o "$work/treeloss" ./cmd/treeloss
go build -o "$work/bench" .
openblas=
if [ -d openblas ] && CGO_ENABLED=1 go build -C openblas -o "$work/openblas" . 2>"$work/log"; then
	openblas=$work/openblas
else
	echo "bench: no OpenBLAS: $(tail -n 1 "$work/log" 2>/dev/null)" >&2
fi
data=${CLINC150:-}
for folder in ../../shared/data/clinc150 ../../../shared/data/clinc150; do
	if [ -z "$data" ] && [ -f "$folder/train.csv" ]; then data=$folder; fi
done
echo "$(uname -srm), $(grep -m 1 'model name' /proc/cpuinfo 2>/dev/null | cut -d : -f 2-), $(getconf _NPROCESSORS_ONLN) processors, load $(cut -d ' ' -f 1-3 /proc/loadavg 2>/dev/null)"
echo "$(go version), $("$work/treeloss" bench --tiny | head -n 1)"
echo
"$work/bench" -python "${PYTHON:-python3}" -treeloss "$work/treeloss" -openblas "$openblas" -data "$data" "$@"
