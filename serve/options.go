package serve

import (
	"cmp"
	"fmt"
	"log/slog"
	"regexp"
	"runtime"
	"time"

	"github.com/treeloss/treeloss/classify"
	"github.com/treeloss/treeloss/internal/explorer"
	"github.com/treeloss/treeloss/internal/option"
)

// Options sets up New. Models and Open are needed; all else may be zero.
type Options struct {
	Models []Model // the first answers requests to /v1 that name none

	// Open opens the model of a file; treeloss serve gives anymodel.Open, which takes
	// networks, too. It is called again when a model is reloaded.
	Open func(path string) (classify.Classifier, error)

	Limits  Limits
	Threads int          // goroutines that classify; 0: one a CPU; never changes a result
	Tokens  string       // file of bearer tokens, one a line, read again when it changes; "": everybody may ask
	Program string       // name and version that /v2 gives
	Log     *slog.Logger // one line a request, and reloads; nil: none

	// Explorer is what the page at / shows of the first model, with test examples, as treeloss
	// explore gives it; nil: the model alone. It stays when the model is reloaded.
	Explorer *explorer.Explorer
}

// Model is a model file and its name in URLs.
type Model struct {
	Name, Path string
	Balance    map[string]float64 // how frequent classes are, as classify.Rebalance takes it; nil: as in training
}

// Limits bound what clients can make a Server spend. The zero value has the defaults. In
// the worst case the memory of requests is about five times MaxBodies: a number of two
// bytes of JSON takes eight, and answers take some, too.
type Limits struct {
	MaxBody   int64         // bytes of a request's body, unpacked; 0: 4 MiB
	MaxBodies int64         // bytes of all bodies that are in memory; 0: 8 times MaxBody
	MaxItems  int           // examples of a request; 0: 1024
	Queue     int           // examples of all requests that wait for a model, at least MaxItems; 0: 8192
	Timeout   time.Duration // from the header of a request to its answer; 0: 10 s
}

// withDefaults fills in what is zero.
func (l Limits) withDefaults() Limits {
	l.MaxBody = cmp.Or(l.MaxBody, 4<<20)
	l.MaxBodies = cmp.Or(l.MaxBodies, 8*l.MaxBody)
	l.MaxItems = cmp.Or(l.MaxItems, 1024)
	l.Queue = max(cmp.Or(l.Queue, 8192), l.MaxItems)
	l.Timeout = cmp.Or(l.Timeout, 10*time.Second)
	return l
}

// modelName is what a name in a URL may be.
var modelName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

// check returns the options with defaults, or what is wrong with them.
func (o Options) check() (Options, error) {
	l := o.Limits
	err := cmp.Or(
		option.Check("MaxBody", l.MaxBody, l.MaxBody >= 0, "a number of bytes, 0 for 4 MiB"),
		option.Check("MaxBodies", l.MaxBodies, l.MaxBodies >= 0, "a number of bytes, 0 for 8 times that of one request"),
		option.Check("MaxItems", l.MaxItems, l.MaxItems >= 0, "a number of examples, 0 for 1024"),
		option.Check("Queue", l.Queue, l.Queue >= 0, "a number of examples, 0 for 8192"),
		option.Check("Timeout", l.Timeout, l.Timeout >= 0, "a time such as 10s"),
		option.Threads(o.Threads))
	if err != nil {
		return o, err
	}
	if len(o.Models) == 0 || o.Open == nil {
		return o, fmt.Errorf("serve: no model; name at least one, and what opens it")
	}
	seen := make(map[string]bool)
	for _, m := range o.Models {
		if err := option.Check("Model", m.Name, modelName.MatchString(m.Name), "a name of letters, digits, dots, dashes and underscores"); err != nil {
			return o, err
		}
		if seen[m.Name] {
			return o, fmt.Errorf("two models are called %s; give each a name of its own, as in NAME=FILE", m.Name)
		}
		seen[m.Name] = true
	}
	o.Limits, o.Threads = l.withDefaults(), cmp.Or(o.Threads, runtime.GOMAXPROCS(0))
	o.Program = cmp.Or(o.Program, "treeloss")
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	return o, nil
}
