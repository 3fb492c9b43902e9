package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/treeloss/treeloss/encoder"
	"github.com/treeloss/treeloss/internal/input"
)

// newEncoder returns treeloss encoder, which only holds info, nearest and distill. They read a folder
// of an encoder and print to standard output; distill writes one.
func newEncoder(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "encoder",
		Short: "Look into sentence encoders",
		Args:  commandsOnly,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newEncoderInfo(a), newEncoderNearest(a), newEncoderDistill(a))
	return c
}

// newEncoderInfo returns treeloss encoder info.
func newEncoderInfo(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "info FOLDER",
		Short: "Tell size and settings of a sentence encoder",
		Args:  oneFile("the folder of a sentence encoder"),
		RunE: func(c *cobra.Command, args []string) error {
			e, err := encoder.OpenAny(c.Context(), args[0])
			if err != nil {
				return err
			}
			info := e.Info()
			if a.json {
				return a.printJSON(info)
			}
			for _, line := range info.Lines() {
				fmt.Fprintf(a.out, "%-15s%s\n", line[0], line[1])
			}
			return nil
		},
	}
	a.jsonFlag(c)
	return c
}

// newEncoderNearest returns treeloss encoder nearest.
func newEncoderNearest(a *app) *cobra.Command {
	var top int
	c := &cobra.Command{
		Use:   "nearest FOLDER TEXT",
		Short: "Print the tokens whose vectors are nearest to that of a text",
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) != 2 || top < 1 {
				return usagef("encoder nearest takes a folder and a text, in quotes if it has spaces, and --top of at least 1")
			}
			e, err := encoder.OpenAny(c.Context(), args[0])
			if err != nil {
				return err
			}
			near, err := e.Nearest(args[1], top)
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(map[string]any{"text": args[1], "nearest": near})
			}
			for _, n := range near {
				fmt.Fprintf(a.out, "%s\t%.6f\n", input.Escape(n.Token), n.Cosine)
			}
			return nil
		},
	}
	c.Flags().IntVar(&top, "top", 10, "number of tokens to print, the nearest first")
	a.jsonFlag(c)
	return c
}
