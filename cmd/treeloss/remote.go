package main

import (
	"context"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/treeloss/treeloss/internal/console"
	"github.com/treeloss/treeloss/internal/remote"
	"github.com/treeloss/treeloss/internal/shard"
)

// resultFlags are those that name what a command writes; --model is one of train, and so
// is --out wherever it stands.
var resultFlags = []string{"--out", "--report", "--confusions"}

// staged fetches what the arguments of a call name by URL, and returns the arguments with
// the copies in their place, and what sends the results when the command is done.
func (a *app) staged(ctx context.Context, args []string) ([]string, func() error, error) {
	if !slices.ContainsFunc(args, func(arg string) bool { return strings.Contains(arg, "://") }) {
		return args, func() error { return nil }, nil
	}
	stage, err := remote.NewStage()
	if err != nil {
		return nil, nil, err
	}
	a.stage = stage
	bar := a.bar()
	stage.Progress = func(url string, done, all int64) {
		if done <= 0 || all <= 0 {
			return
		}
		part := float64(done) / float64(all)
		bar.Draw(false, func(took time.Duration) string { return url + " " + console.Part(part) + console.TimeLeft(took, part) })
	}
	defer bar.Clear()
	own := ownPart(args)
	local := slices.Clone(args)
	for i, arg := range args {
		flag, value, both := strings.Cut(arg, "=")
		switch {
		case remote.IsURL(arg) && i > 0 && strings.HasPrefix(args[i-1], "--") && !strings.Contains(args[i-1], "="):
			flag, value, both = args[i-1], arg, false
		case remote.IsURL(arg):
			flag, value, both = "", arg, false
		case !both || !remote.IsURL(value): // --flag=URL, or NAME=URL of serve
			continue
		}
		path, err := a.local(ctx, args[0], flag, value, own)
		if err != nil {
			return nil, nil, err
		}
		if both {
			path = flag + "=" + path
		}
		local[i] = path
	}
	a.out = stage.NameIn(a.out)
	return local, func() error { return stage.Send(ctx) }, nil
}

// local returns the path that stands for a URL in the arguments of a command.
func (a *app) local(ctx context.Context, command, flag, url string, own func(name string) bool) (string, error) {
	result := slices.Contains(resultFlags, flag) || command == "train" && flag == "--model"
	folder := command == "gather" && flag == "" || flag == "--out" && own != nil || flag == "--report"
	if folder && !strings.HasSuffix(url, "/") {
		url += "/"
	}
	if !result {
		return a.stage.Fetch(ctx, url, nil)
	}
	if own != nil && flag == "--out" { // a part that is there is not done again
		if _, err := a.stage.Fetch(ctx, url, own); err != nil {
			return "", err
		}
	}
	return a.stage.Result(url)
}

// ownPart returns what tells the files of the part that --shard names; nil without it.
func ownPart(args []string) func(name string) bool {
	for i, arg := range args {
		text, ok := strings.CutPrefix(arg, "--shard=")
		if arg == "--shard" && i+1 < len(args) {
			text, ok = args[i+1], true
		}
		if part, err := shard.Parse(text, os.Getenv); ok && err == nil {
			return func(name string) bool { return shard.IsOf(part, name) }
		}
	}
	return nil
}

// named replaces the paths of copies by the URLs that they are of.
func (a *app) named(text string) string {
	if a.stage == nil {
		return text
	}
	return a.stage.Named(text)
}
