package main

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/treeloss/treeloss/classify"
	"github.com/treeloss/treeloss/deep/fit"
	"github.com/treeloss/treeloss/deep/network"
)

// use is what a model is trained by, or what a trained one is.
type use int

const (
	byConvergence use = 1 << iota // linear models: --trainer auto or converge
	bySGD
	byAdamW
	onResNet20 // networks: resnet20
	onResNet50 // resnet50
	onTexts    // bert

	linear     = byConvergence | bySGD | byAdamW
	inEpochs   = bySGD | byAdamW
	onPictures = onResNet20 | onResNet50
	onNetworks = onPictures | onTexts
)

// effects says with what a flag has an effect, for those that have it with some
// models or trainers only.
var effects = map[string]use{
	"label":    linear | onTexts,
	"text":     linear | onTexts,
	"format":   linear | onTexts,
	"encoding": linear | onTexts,
	"skip-bad": linear | onTexts, "shard": linear | onTexts, "label-prefix": linear | onTexts, "first-label": linear | onTexts,
	"multilabel": byConvergence, "label-separator": linear, "thresholds": byConvergence, "threshold": linear,
	"features": linear, "categories": linear,
	"id":     linear | onTexts,
	"echo":   linear | onTexts,
	"weight": linear,
	"labels": linear | onPictures, "valid-labels": linear | onPictures,

	"names-as-examples": linear,
	"unlabeled":         byConvergence,
	"fourier":           linear,
	"encoder":           linear,
	"mode":              linear,
	"beam":              linear,
	"calibrate":         linear,
	"prior":             linear,
	"rho":               linear,
	"class-weight":      linear,
	"class-balance":     linear,
	"threads":           linear,
	"memory":            linear,
	"trainer":           linear,

	"epochs":       inEpochs | onNetworks,
	"batch":        inEpochs | onNetworks,
	"rate":         inEpochs | onNetworks,
	"weight-decay": inEpochs | onNetworks,
	"patience":     inEpochs | onNetworks,
	"schedule":     inEpochs,
	"momentum":     bySGD | onPictures,
	"nesterov":     bySGD | onPictures,
	"average":      bySGD,
	"init-model":   linear | onResNet50,

	"backend":     onNetworks,
	"milestones":  onNetworks,
	"warm-up":     onNetworks,
	"tensorboard": onNetworks,
	"augment":     onPictures,
	"class-names": onPictures,
	"side":        onPictures,
	"damaged":     onPictures,
	"tokens":      onTexts,
}

// idle returns the flags that were given and have no effect with a use.
func idle(flags *pflag.FlagSet, now use) (list []string) {
	flags.Visit(func(f *pflag.Flag) {
		if with, ok := effects[f.Name]; ok && with&now == 0 {
			list = append(list, f.Name)
		}
	})
	return list
}

// trainers are the linear trainers by name.
var trainers = map[string]use{"auto": byConvergence, "converge": byConvergence, "sgd": bySGD, "adamw": byAdamW}

// checkTraining refuses a flag that has no effect with a linear trainer, or with a
// network: who gives one would believe that it did something.
func checkTraining(flags *pflag.FlagSet, trainer, net string) error {
	now, ok := trainers[trainer]
	if net != "" {
		now, ok = onResNet20, slices.Contains(network.Names(), net)
		if folder, isBERT := strings.CutPrefix(net, fit.BERT); isBERT {
			now, ok = onTexts, folder != ""
		} else if net == network.ResNet50 {
			now = onResNet50
		}
		if !ok {
			return usagef("--network %q, want one of %s, or bert:FOLDER", net, strings.Join(network.Names(), ", "))
		}
	}
	if !ok {
		return usagef("--trainer %q, want auto, converge, sgd or adamw", trainer)
	}
	names := idle(flags, now)
	if len(names) == 0 {
		return nil
	}
	name := names[0]
	if net != "" {
		return usagef("--%s has no effect with --network %s", name, net)
	}
	var with []string
	for _, other := range []string{"converge", "sgd", "adamw"} {
		if effects[name]&trainers[other] != 0 {
			with = append(with, other)
		}
	}
	if with == nil {
		return usagef("--%s has no effect without --network", name)
	}
	return usagef("--%s has no effect with --trainer %s; give --trainer %s", name, trainer, strings.Join(with, " or "))
}

// checkUse refuses a flag that has no effect with a trained model.
func checkUse(flags *pflag.FlagSet, model string, kind classify.Kind) error {
	now := map[classify.Kind]use{classify.LinearModel: linear, classify.PictureNetwork: onPictures, classify.LanguageNetwork: onTexts}[kind]
	for _, name := range idle(flags, now) {
		return usagef("--%s has no effect with %s, which is %s", name, model, kind)
	}
	return nil
}
