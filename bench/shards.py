"""Kills parts of treeloss at random, starts them again as a cluster would, gathers, and
compares with one process over everything: predict, evaluate, cv, compare and the leaves of a
tree of softmaxes.

    python3 bench/shards.py PROGRAM MODEL QUESTIONS.csv ROWS [SEED]

ROWS rows to predict are drawn from the texts of QUESTIONS.csv (columns text, label) into a
file in a temporary folder, one in ten with a line break within quotes; the other commands
take QUESTIONS.csv itself. Eight parts, two at a time; a third of the processes gets SIGKILL
at a random moment.
"""

import csv, filecmp, os, random, re, subprocess, sys, tempfile, time

program, model, questions = map(os.path.abspath, sys.argv[1:4])
rows = int(sys.argv[4])
random.seed(int(sys.argv[5]) if len(sys.argv) > 5 else 1)
texts = [r["text"] for r in csv.DictReader(open(questions, newline=""))]
parts = 8


def run_parts(args, folder, longest):
    """Runs all parts until each has ended well; a third is killed within longest seconds."""
    killed, left = 0, list(range(parts))
    while left:
        running = []
        for i in random.sample(left, min(2, len(left))):
            p = subprocess.Popen(args + ["--threads", "1", "--shard", f"{i}/{parts}", "--out", folder])
            running.append((i, p, time.time() + random.uniform(0, longest) if random.random() < 1 / 3 else None))
        for i, p, end in running:
            try:
                status = p.wait(max(0, end - time.time()) if end else None)
            except subprocess.TimeoutExpired:
                p.kill()
                status = p.wait()
                killed += 1
            if status == 0:
                left.remove(i)
    return killed


def compare_outputs(name, args, longest):
    """Compares what one process prints, but for its seconds, with what gather prints."""
    began = time.time()
    whole = subprocess.run(args + ["--json"], stdout=subprocess.PIPE, check=True).stdout
    took = time.time() - began
    killed = run_parts(args, name, longest or took)
    joined = subprocess.run([program, "gather", "--quiet", "--json", name], stdout=subprocess.PIPE, check=True).stdout
    assert len({re.sub(rb'"seconds": [0-9.e+-]+', b"", text) for text in (whole, joined)}) == 1, name + " differs"
    print(f"{name}: {killed} processes killed: the same {len(whole)} bytes, but for seconds", flush=True)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    with open("rows.csv", "w", newline="") as f:
        w = csv.writer(f)
        w.writerow(["id", "text"])
        for i in range(rows):
            text = random.choice(texts)
            w.writerow([i, text.replace(" ", "\n", 1) if i % 10 == 0 else text])
    args = [program, "predict", "--quiet", "--model", model, "--id", "id", "rows.csv"]

    with open("whole.tsv", "wb") as out:
        began = time.time()
        subprocess.run(args + ["--threads", "2"], stdout=out, check=True)
        print(f"one process, two threads: {time.time() - began:.1f} s", flush=True)
    began = time.time()
    both = [subprocess.Popen(args + ["--threads", "1", "--shard", f"{i}/2", "--out", "halves"]) for i in range(2)]
    assert [p.wait() for p in both] == [0, 0]
    print(f"two parts, a thread each: {time.time() - began:.1f} s", flush=True)
    killed = run_parts(args, "parts", 3)
    for name in ("halves", "parts"):
        subprocess.run([program, "gather", name, "--out", name + ".tsv"], check=True)
        assert filecmp.cmp("whole.tsv", name + ".tsv", shallow=False), name + " differ"
    print(f"predict: {rows} rows, {killed} processes killed: the same {os.path.getsize('whole.tsv')} bytes", flush=True)

    data = ["--quiet", "--data", questions]
    compare_outputs("evaluate", [program, "evaluate", "--model", model] + data, 1)
    compare_outputs("cv", [program, "cv", "--folds", "5", "--prior", "10", "--sharing", "names"] + data, None)
    compare_outputs("compare", [program, "compare", "--shots", "3,5", "--seeds", "3", "--prior", "10", "--methods", "names,v-tree"] + data, None)
    train = [program, "train", "--mode", "tree"] + data
    subprocess.run(train + ["--model", "whole.safetensors"], stdout=subprocess.DEVNULL, check=True)
    killed = run_parts(train, "leaves", 3)
    subprocess.run([program, "gather", "--quiet", "leaves", "--out", "joined.safetensors"], stdout=subprocess.DEVNULL, check=True)
    assert filecmp.cmp("whole.safetensors", "joined.safetensors", shallow=False), "the models differ"
    print(f"train: {killed} processes killed: the same model of {os.path.getsize('whole.safetensors')} bytes")
