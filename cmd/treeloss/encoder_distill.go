package main

import (
	"cmp"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/treeloss/treeloss/deep/backend"
	"github.com/treeloss/treeloss/deep/bert"
)

// newEncoderDistill returns treeloss encoder distill.
func newEncoderDistill(a *app) *cobra.Command {
	var from, vocabulary, out, on string
	var o bert.DistillOptions
	c := &cobra.Command{
		Use:   "distill --from BERT --out FOLDER",
		Short: "Make a static sentence encoder from a local BERT",
		Args:  noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if from == "" || out == "" || o.Dim < 1 {
				return usagef("encoder distill needs the folder of a BERT (--from), one to write (--out) and a --dim of at least 1")
			}
			if err := cmp.Or(bert.CheckEmpty(out), canWrite("--out", out)); err != nil {
				return err
			}
			b, err := backend.Open(on, func(line string) { a.logf("warning: %s", line) })
			if err != nil {
				return err
			}
			defer b.Finalize()
			bar := a.bar()
			o.Progress = func(done, all int) {
				bar.Draw(done == all, func(time.Duration) string { return fmt.Sprintf("%d of %d tokens", done, all) })
			}
			s, left, err := bert.DistillFolder(c.Context(), b, from, vocabulary, out, o)
			bar.Clear()
			if err != nil {
				return err
			}
			if len(left) > 0 {
				a.logf("left out, as the tokenizer cuts them: %d words such as %q", len(left), left[0])
			}
			if a.json {
				return a.printJSON(map[string]any{"out": out, "encoder": s.Info(), "left_out": len(left)})
			}
			fmt.Fprintf(a.out, "%s: %d tokens, %d dimensions\n", out, s.Tokens(), s.Dim())
			return nil
		},
	}
	flags := c.Flags()
	flags.StringVar(&from, "from", "", "folder of a BERT: config.json, tokenizer.json and model.safetensors")
	flags.StringVar(&vocabulary, "vocabulary", "", "number of the BERT's tokens, or a file of further words (default all tokens)")
	flags.IntVar(&o.Dim, "dim", bert.DefaultDim, "numbers of a vector, at most those of the BERT")
	flags.StringVar(&out, "out", "", "folder to write, new or empty")
	addBackend(c, &on)
	a.jsonFlag(c)
	return c
}
