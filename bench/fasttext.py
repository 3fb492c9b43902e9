"""Compares treeloss with fastText on banking77: accuracy, size of the model, seconds.

    python3 bench/fasttext.py ../shared/data/banking77 treeloss

needs the folder of train.csv and test.csv, the program, and `fasttext` on the path. Texts
are as in fastText's tutorial: lower case, punctuation apart. fastText's settings are
chosen on a fifth of the training examples from the grid below, its seed is 1, and it has
one thread, as its results are reproducible on one only. Seconds are processor time, of
fastText with the best settings and the choice of them.
"""
import csv, json, os, random, re, resource, subprocess, sys, tempfile

GRID = [["-lr", lr, "-epoch", epoch, "-wordNgrams", words] + chars
        for chars in ([], ["-minn", "2", "-maxn", "5"])
        for words in ("1", "2")
        for lr, epoch in (("0.5", "25"), ("1.0", "50"))]


def seconds(*command):
    """Runs a command and returns its processor time and what it printed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, said


def lines(path):
    with open(path, encoding="utf-8", newline="") as f:
        for row in csv.DictReader(f):
            text = re.sub(r"([.!?,'/()])", r" \1 ", row["text"].lower())
            yield "__label__" + row["label"] + " " + " ".join(text.split()) + "\n"


def write(path, content):
    with open(path, "w", encoding="utf-8") as f:
        f.writelines(content)


def precision(said):
    return 100 * float(re.search(r"P@1\s+([\d.]+)", said).group(1))


def fasttext(folder, settings, train, test, model="model"):
    """Trains and tests; returns seconds and accuracy."""
    base = os.path.join(folder, model)
    took, _ = seconds("fasttext", "supervised", "-input", train, "-output", base, "-thread", "1", "-seed", "1", "-verbose", "0", *settings)
    _, said = seconds("fasttext", "test", base + ".bin", test)
    return took, precision(said)


def main(data, program):
    with tempfile.TemporaryDirectory() as folder:
        path = lambda name: os.path.join(folder, name)
        train, test = list(lines(os.path.join(data, "train.csv"))), list(lines(os.path.join(data, "test.csv")))
        write(path("train.ft"), train)
        write(path("test.ft"), test)
        random.Random(1).shuffle(train)
        fifth = len(train) // 5
        write(path("some.ft"), train[fifth:])
        write(path("held.ft"), train[:fifth])
        best, choosing = (-1, None), 0
        for settings in GRID:
            took, accuracy = fasttext(folder, settings, path("some.ft"), path("held.ft"))
            choosing += took
            print(f"held out {accuracy:.1f} %, {took:.0f} s: {' '.join(settings)}", file=sys.stderr)
            best = max(best, (accuracy, settings))
        print("| program | settings | accuracy | model | seconds |\n|---|---|---:|---:|---:|")
        for name, settings, more in (("fastText", [], 0), ("fastText", best[1], choosing)):
            took, accuracy = fasttext(folder, settings, path("train.ft"), path("test.ft"))
            size = os.path.getsize(path("model.bin")) / 1e6
            choice = f" + {more:.0f} to choose" if more else ""
            print(f"| {name} | {' '.join(settings) or 'as it comes'} | {accuracy:.1f} | {size:.0f} MB | {took:.0f}{choice} |")
        took, _ = seconds("fasttext", "quantize", "-input", path("train.ft"), "-output", path("model"), "-thread", "1")
        _, said = seconds("fasttext", "test", path("model.ftz"), path("test.ft"))
        print(f"| fastText | the same, then quantize | {precision(said):.1f} | {os.path.getsize(path('model.ftz')) / 1e6:.0f} MB | {took:.0f} more |")
        model = path("m.safetensors")
        took, _ = seconds(program, "train", "--quiet", "--data", path("train.ft"), "--model", model)
        _, said = seconds(program, "evaluate", "--quiet", "--json", "--model", model, "--data", path("test.ft"))
        accuracy = 100 * json.loads(said)["accuracy"]
        print(f"| treeloss | as it comes | {accuracy:.1f} | {os.path.getsize(model) / 1e6:.0f} MB | {took:.0f} |")


main(*sys.argv[1:])
