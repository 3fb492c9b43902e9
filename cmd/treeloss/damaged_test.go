package main

import (
	"bytes"
	"image"
	"image/jpeg"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A damaged picture is left out and counted where that is asked for, and
// pictures without folders of classes get these from a file.
func TestDamagedAndFlatFolders(t *testing.T) {
	dir := t.TempDir()
	put := func(content []byte, name string) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	var whole bytes.Buffer
	if err := jpeg.Encode(&whole, image.NewGray(image.Rect(0, 0, 16, 16)), nil); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"train/n01/a.jpg", "train/n02/b.jpg", "val/images/v1.jpg", "val/images/v2.jpg"} {
		put(whole.Bytes(), name)
	}
	put(whole.Bytes()[:200], "train/n02/cut.jpg")
	labels := put([]byte("v1.jpg\tn02\t0\t0\nv2.jpg\tn01\n"), "val.txt")
	model := filepath.Join(dir, "m.safetensors")
	train := []string{"train", "--network", "resnet20", "--backend", "go", "--side", "16", "--data", filepath.Join(dir, "train"),
		"--valid", filepath.Join(dir, "val"), "--valid-labels", labels, "--epochs", "1", "--model", model}
	refuseCall(t, "cut.jpg: no readable picture", train...)
	if err := os.RemoveAll(trainingOf(model)); err != nil {
		t.Fatal(err)
	}
	o := succeed(t, append(train, "--damaged", "skip", "--json")...)
	if !strings.Contains(o.out, `"examples": 2`) || !strings.Contains(o.log, "cut.jpg: no readable picture") {
		t.Errorf("trained %s, log %s", o.out, o.log)
	}
	o = succeed(t, "evaluate", "--backend", "go", "--model", model, "--data", filepath.Join(dir, "val"), "--labels", labels, "--json")
	if !strings.Contains(o.out, `"examples": 2`) {
		t.Errorf("evaluated %s", o.out)
	}
}

func TestDamagedRefusals(t *testing.T) {
	cifar := pictureFolder(t, 3)
	empty := t.TempDir()
	if err := os.MkdirAll(filepath.Join(empty, "a"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(empty, "a", "x.jpg"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	train := []string{"train", "--network", "resnet20", "--backend", "go", "--model", filepath.Join(cifar, "m.safetensors")}
	for want, args := range map[string][]string{
		"want error or skip":                 {"--data", cifar, "--damaged", "often"},
		"not for CIFAR-100":                  {"--data", cifar, "--labels", "x"},
		"none of the 1 pictures can be read": {"--data", empty, "--damaged", "skip"},
	} {
		refuseCall(t, want, append(train, args...)...)
	}
}
