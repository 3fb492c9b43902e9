package main

import (
	"bufio"
	"cmp"
	"context"
	"slices"

	"github.com/treeloss/treeloss/deep/backend"
	"github.com/treeloss/treeloss/deep/network"
	"github.com/treeloss/treeloss/softmax"
)

// runNetwork classifies pictures by a network.
func (f *predictFlags) runNetwork(ctx context.Context, a *app) error {
	if f.decision.hedges || f.decision.rejects || f.decision.decode == decodeCost {
		return usagef("--confidence, --reject and --decode cost are not for networks: write the features with treeloss embed and train on these")
	}
	if isStream(f.data.data) {
		return usagef("a network reads pictures from a file, not from the standard input; name a picture, a folder of them, or a CIFAR-100 file")
	}
	if err := unheeded(f.flags, f.model, picturesKind, "text", "features", "format", "threads"); err != nil {
		return err
	}
	m, err := network.Load(f.model)
	if err != nil {
		return err
	}
	p, err := readUnlabelled(a, f.data.data[0], m.Width)
	if err != nil {
		return err
	}
	set, err := p.forModel(m, f.data.data[0])
	if err != nil {
		return err
	}
	x := deepExamples{classes: m.Classes, set: set, evaluator: m.Evaluator}
	if p.folder != nil {
		x.files = p.folder.Files
	}
	return f.answerDeep(ctx, a, x)
}

// answerDeep runs the examples through the network and writes what it says.
func (f *predictFlags) answerDeep(ctx context.Context, a *app, x deepExamples) error {
	b, err := backend.Open(f.backend, func(line string) { a.logf("warning: %s", line) })
	if err != nil {
		return err
	}
	defer b.Finalize()
	e, err := x.evaluator(b, deepBatch)
	if err != nil {
		return err
	}
	defer e.Close()
	out := bufio.NewWriterSize(a.out, 1<<16)
	write := reply.writeTSV
	if a.json || f.output == outputJSONL {
		write = reply.writeJSONL
	}
	p := make([]float64, len(x.classes))
	order := make([]int, len(p))
	err = e.Each(ctx, x.set, func(i int, logits []float32) error {
		softmaxOf(p, logits)
		for c := range order {
			order[c] = c
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p[b], p[a]) })
		var r reply
		if x.files != nil {
			r.file = x.files[i]
		}
		for _, c := range order[:min(f.top, len(order))] {
			r.classes = append(r.classes, softmax.Prediction{Class: c, Label: x.classes[c], Probability: p[c]})
		}
		return write(r, out)
	})
	if err != nil {
		return err
	}
	return out.Flush()
}
