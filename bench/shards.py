"""Kills parts of treeloss predict at random, starts them again as a cluster would, gathers,
and compares with one process over the whole file.

    python3 bench/shards.py PROGRAM MODEL QUESTIONS.csv ROWS [SEED]

ROWS rows are drawn from the texts of QUESTIONS.csv (columns text, label) into a file in a
temporary folder, one in ten with a line break within quotes. Eight parts, two at a time; a
third of the processes gets SIGKILL at a random moment.
"""

import csv, filecmp, os, random, subprocess, sys, tempfile, time

program, model, questions, rows = sys.argv[1:4] + [int(sys.argv[4])]
random.seed(int(sys.argv[5]) if len(sys.argv) > 5 else 1)
texts = [r["text"] for r in csv.DictReader(open(questions, newline=""))]
parts = 8

with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    with open("rows.csv", "w", newline="") as f:
        w = csv.writer(f)
        w.writerow(["id", "text"])
        for i in range(rows):
            text = random.choice(texts)
            w.writerow([i, text.replace(" ", "\n", 1) if i % 10 == 0 else text])
    args = [program, "predict", "--quiet", "--model", model, "--id", "id", "rows.csv"]

    def timed(name, out, *more):
        began = time.time()
        subprocess.run(args + list(more), stdout=out, check=True)
        print(f"{name}: {time.time() - began:.1f} s", flush=True)

    with open("whole.tsv", "wb") as out:
        timed("one process, two threads", out, "--threads", "2")
    began = time.time()
    both = [subprocess.Popen(args + ["--threads", "1", "--shard", f"{i}/2", "--out", "halves"]) for i in range(2)]
    assert [p.wait() for p in both] == [0, 0]
    print(f"two parts, a thread each: {time.time() - began:.1f} s", flush=True)

    killed, left = 0, list(range(parts))
    while left:
        running = []
        for i in random.sample(left, min(2, len(left))):
            p = subprocess.Popen(args + ["--threads", "1", "--shard", f"{i}/{parts}", "--out", "parts"])
            running.append((i, p, time.time() + random.uniform(0, 3) if random.random() < 1 / 3 else None))
        for i, p, end in running:
            try:
                status = p.wait(max(0, end - time.time()) if end else None)
            except subprocess.TimeoutExpired:
                p.kill()
                status = p.wait()
                killed += 1
            if status == 0:
                left.remove(i)
    for name in ("halves", "parts"):
        subprocess.run([program, "gather", name, "--out", name + ".tsv"], check=True)
        assert filecmp.cmp("whole.tsv", name + ".tsv", shallow=False), name + " differ"
    print(f"{rows} rows, {killed} processes killed: the same {os.path.getsize('whole.tsv')} bytes")
