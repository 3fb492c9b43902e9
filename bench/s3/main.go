// Command s3 is a fake of S3 in memory on loopback (gofakes3), in which a share of the
// requests goes wrong: an answer 500, a broken connection, half a body, a pause. It makes a
// bucket "data" and prints the variables that make treeloss use it:
//
//	go run ./s3 -faults 0.2 > env &
//	. ./env
package main

import (
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

func main() {
	address := flag.String("addr", "127.0.0.1:9000", "where to listen")
	faults := flag.Float64("faults", 0, "share of the requests that go wrong")
	flag.Parse()
	backend := s3mem.New()
	if err := backend.CreateBucket("data"); err != nil {
		log.Fatal(err)
	}
	l, err := net.Listen("tcp", *address)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("export AWS_ENDPOINT_URL=http://%s AWS_ACCESS_KEY_ID=key AWS_SECRET_ACCESS_KEY=secret\n", l.Addr())
	log.Fatal(http.Serve(l, faulty(gofakes3.New(backend).Server(), *faults)))
}

// faulty passes requests on, but for a share of them.
func faulty(next http.Handler, share float64) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if rand.Float64() >= share {
			next.ServeHTTP(w, r)
			return
		}
		switch rand.IntN(4) {
		case 0:
			w.WriteHeader(http.StatusInternalServerError)
		case 1:
			panic(http.ErrAbortHandler) // net/http closes the connection
		case 2:
			next.ServeHTTP(&half{ResponseWriter: w}, r)
		case 3:
			time.Sleep(2 * time.Second)
			next.ServeHTTP(w, r)
		}
	})
}

// half breaks the connection in the middle of the first bytes that it is given.
type half struct{ http.ResponseWriter }

func (w *half) Write(p []byte) (int, error) {
	_, _ = w.ResponseWriter.Write(p[:len(p)/2])
	panic(http.ErrAbortHandler)
}
