package main

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/treeloss/treeloss/deep/backend"
	"github.com/treeloss/treeloss/deep/images"
	"github.com/treeloss/treeloss/deep/network"
	"github.com/treeloss/treeloss/deep/train"
)

// deepFlags are the flags of train that are for networks.
type deepFlags struct {
	network     string
	backend     string
	augment     string
	classNames  string
	milestones  []float64
	warmUp      float64
	side        int
	tokens      int
	damaged     string
	tensorBoard string
}

// What --damaged may say.
const (
	damagedError = "error"
	damagedSkip  = "skip"
)

func (f *deepFlags) add(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&f.network, "network", "", "train a network on pictures: "+strings.Join(network.Names(), ", ")+"; or on texts: bert:FOLDER, with config.json, tokenizer.json and model.safetensors")
	addBackend(c, &f.backend)
	flags.StringVar(&f.augment, "augment", string(images.Fresh), "--network: crops and flips of training pictures: fresh (new ones each epoch), frozen (drawn once) or none")
	flags.StringVar(&f.classNames, "class-names", "", "--network: names of the classes instead of those beside the data: a file with one a line, or FILE.csv:COLUMN, by another column that has the old names")
	flags.Float64SliceVar(&f.milestones, "milestones", nil, "--network: epochs at which the rate falls to a tenth, separated by commas (default a half and three quarters of all, resnet50 thirds)")
	flags.Float64Var(&f.warmUp, "warm-up", 0, "--network: epochs over which the rate grows at the start")
	flags.IntVar(&f.side, "side", 0, "--network: side to which pictures of a folder are brought (default 224)")
	flags.StringVar(&f.damaged, "damaged", damagedError, "--network: pictures of a folder that cannot be read: error stops at the first that is wanted, skip decodes all beforehand and leaves them out")
	choices(c, "damaged", damagedError, damagedSkip)
	flags.StringVar(&f.tensorBoard, "tensorboard", "", "--network: folder for event files that TensorBoard draws, one for each training")
	flags.IntVar(&f.tokens, "tokens", 0, "--network bert: tokens of a text, longer ones are cut (default 64, or what the longest has)")
	choices(c, "network", append(network.Names(), bertPrefix)...)
	choices(c, "augment", string(images.Fresh), string(images.Frozen), string(images.None))
}

// classNamesHelp is the help of --class-names where a network is used.
const classNamesHelp = "networks: names of the classes of the pictures instead of those beside them: a file with one a line, or FILE.csv:COLUMN, by another column that has the old names"

// addBackend adds --backend to a command that runs networks.
func addBackend(c *cobra.Command, name *string) {
	c.Flags().StringVar(name, "backend", "", "networks: what computes: "+strings.Join(backend.Names(), ", ")+" (default the first that is compiled in and whose library is here)")
	choices(c, "backend", backend.Names()...)
}

// otherThanNetworks are the flags of train that mean nothing for a network.
var otherThanNetworks = []string{"label", "text", "features", "weight", "format", "names-as-examples", "trainer",
	"schedule", "average", "calibrate", "prior", "rho", "class-weight", "threads"}

// refuse returns an error for a flag that is given and does not go with the
// choice of a network, or of none.
func (f *deepFlags) refuse(flags *pflag.FlagSet) error {
	if f.network == "" {
		for _, name := range []string{"backend", "augment", "class-names", "milestones", "warm-up", "side", "tokens", "damaged", "tensorboard"} {
			if flags.Changed(name) {
				return usagef("--%s goes with --network", name)
			}
		}
		return nil
	}
	folder, onTexts := f.bert()
	for _, name := range otherThanNetworks {
		if flags.Changed(name) && !(onTexts && slices.Contains(ofTexts, name)) {
			return usagef("--%s does not go with --network", name)
		}
	}
	other := []string{"tokens"}
	if onTexts {
		other = notOfTexts
	}
	for _, name := range other {
		if flags.Changed(name) {
			return usagef("--%s does not go with --network %s", name, f.network)
		}
	}
	if !onTexts && !slices.Contains(network.Names(), f.network) || onTexts && folder == "" {
		return usagef("--network %q, want one of %s, or bert:FOLDER", f.network, strings.Join(network.Names(), ", "))
	}
	if !slices.Contains([]string{string(images.Fresh), string(images.Frozen), string(images.None)}, f.augment) {
		return usagef("--augment %q, want fresh, frozen or none", f.augment)
	}
	if f.damaged != damagedError && f.damaged != damagedSkip {
		return usagef("--damaged %q, want error or skip", f.damaged)
	}
	if n := network.Stride(f.network); flags.Changed("side") && !onTexts && (f.side < n || f.side%n != 0) {
		return usagef("--side %d, want a multiple of %d for --network %s", f.side, n, f.network)
	}
	if f.network == network.ResNet20 && flags.Changed("init-model") {
		return usagef("--init-model goes with --network %s: for %s there are no weights of others", network.ResNet50, f.network)
	}
	return checkBackend(f.backend)
}

// schedule checks the numbers of a training before anything is read.
func (f *deepFlags) schedule(t *trainerFlags) error {
	if err := t.ranges(); err != nil {
		return err
	}
	if !(f.warmUp >= 0) || math.IsInf(f.warmUp, 1) {
		return usagef("--warm-up %v, want a number of epochs, 0 or more", f.warmUp)
	}
	for i, at := range f.milestones {
		if !(at > 0) || math.IsInf(at, 1) || i > 0 && at <= f.milestones[i-1] {
			return usagef("--milestones: %v, want epochs above 0 that ascend, such as 30,60", at)
		}
	}
	s := train.Schedule{Base: cmp.Or(t.rate, 1), Milestones: f.milestones, WarmUp: f.warmUp}
	if err := s.Check(); err != nil {
		return usageError{err}
	}
	return nil
}

// unheeded returns an error for a flag that is given and means nothing for a
// model of that kind: who gives one would believe that it did something.
func unheeded(flags *pflag.FlagSet, model, kind string, names ...string) error {
	for _, name := range names {
		if flags.Changed(name) {
			return usagef("--%s has no effect with %s, which is %s", name, model, kind)
		}
	}
	return nil
}

func checkBackend(name string) error {
	if name != "" && !slices.Contains(backend.Names(), name) {
		return usagef("--backend %q, want one of %s", name, strings.Join(backend.Names(), ", "))
	}
	return nil
}
