package dataset

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// Check decodes all pictures and returns a folder of those that are whole, and
// why the others are not, in their order. threads 0 means one a processor; they
// never change the result.
func (f *Folder) Check(ctx context.Context, threads int) (whole *Folder, damaged []error, err error) {
	failed := make([]error, f.Len())
	if threads <= 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	var next atomic.Int64
	var wait sync.WaitGroup
	for range min(threads, f.Len()) {
		wait.Go(func() {
			for i := int(next.Add(1) - 1); i < f.Len() && ctx.Err() == nil; i = int(next.Add(1) - 1) {
				_, failed[i] = f.Picture(i)
			}
		})
	}
	wait.Wait()
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	whole = &Folder{Root: f.Root, Classes: f.Classes, Others: f.Others}
	for i, err := range failed {
		if err != nil {
			damaged = append(damaged, err)
			continue
		}
		whole.Files, whole.Label = append(whole.Files, f.Files[i]), append(whole.Label, f.Label[i])
	}
	return whole, damaged, nil
}
