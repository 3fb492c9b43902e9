# An image of the static program alone:
#
#   docker build -t treeloss .
#   docker run --rm --user "$(id -u)" -v "$PWD:/data" treeloss train --data train.csv --model m.safetensors
#   docker run --rm -p 8080:8080 -v "$PWD:/data:ro" treeloss serve --model m.safetensors --addr :8080
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -ldflags="-s -w" -o /out/treeloss ./cmd/treeloss \
 && mkdir -m 1777 /out/tmp && cp LICENSE NOTICE /out

FROM scratch
COPY --from=build /out /
WORKDIR /data
USER 65532:65532
ENTRYPOINT ["/treeloss"]
