#!/usr/bin/env python3
"""Debian's packages and their debtags, as examples with several labels, and what
one-vs-rest linear support vector machines of scikit-learn make of them.

    python3 bench/debtags.py data DIR             # writes DIR/train.jsonl and DIR/test.jsonl
    python3 bench/debtags.py compare DIR treeloss # trains and measures both programs
    python3 bench/debtags.py treeloss DIR treeloss --thresholds class # one of them, with more flags

`data` reads `apt-cache dumpavail`: the text is the name of the package and its
description (one line of it, where the list of long ones is not installed), the labels
are its tags. A fifth of the *sources* is the test set, as packages of one source have
nearly the same text and tags. Debian's package index is on every Debian system; nothing
of it is kept here.

`compare` trains treeloss and OneVsRestClassifier(LinearSVC()) on the same examples. The
n-grams of scikit-learn are those of treeloss: words, pairs of words, and 2 to 4 letters
within words, with smoothed tf-idf and unit length a block. Both have one thread.
Seconds are processor time of training, reading and counting included.
"""
import hashlib, json, os, resource, subprocess, sys


def packages():
    """Yields name, source, description and tags of each package."""
    out = subprocess.run(["apt-cache", "dumpavail"], check=True, capture_output=True, text=True).stdout
    for block in out.split("\n\n"):
        fields, last = {}, None
        for line in block.split("\n"):
            if line.startswith(" ") and last:
                fields[last] += " " + line.strip().replace("\n", " ")
            elif ": " in line:
                last, value = line.split(": ", 1)
                fields[last] = value
        if "Package" in fields:
            text = fields.get("Description-en") or fields.get("Description", "")
            tags = [t.strip() for t in fields.get("Tag", "").split(",") if t.strip()]
            yield fields["Package"], fields.get("Source", fields["Package"]).split(" ")[0], text, tags


def write_data(folder):
    os.makedirs(folder, exist_ok=True)
    counts, seen = {"train": 0, "test": 0}, set()
    with open(f"{folder}/train.jsonl", "w") as train, open(f"{folder}/test.jsonl", "w") as test:
        for name, source, text, tags in packages():
            if not tags or not text or name in seen:  # security updates list a package again
                continue
            seen.add(name)
            held_out = int(hashlib.sha256(source.encode()).hexdigest(), 16) % 5 == 0
            counts["test" if held_out else "train"] += 1
            (test if held_out else train).write(json.dumps({"text": f"{name}: {text}", "labels": sorted(set(tags))}) + "\n")
    print(counts)


def used():
    """Processor seconds of this process and of those that it ran."""
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def read(path):
    with open(path) as f:
        rows = [json.loads(line) for line in f]
    return [r["text"] for r in rows], [r["labels"] for r in rows]


def by_sklearn(folder):
    import numpy as np
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.metrics import f1_score
    from sklearn.multiclass import OneVsRestClassifier
    from sklearn.pipeline import make_union
    from sklearn.preprocessing import MultiLabelBinarizer
    from sklearn.svm import LinearSVC
    texts, labels = read(f"{folder}/train.jsonl")
    start = used()
    union = make_union(TfidfVectorizer(analyzer="word", ngram_range=(1, 2)),
                       TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 4)))
    x = union.fit_transform(texts)
    binary = MultiLabelBinarizer(sparse_output=True)
    y = binary.fit_transform(labels)
    made = used()
    model = OneVsRestClassifier(LinearSVC()).fit(x, y)
    trained = used()
    test_texts, test_labels = read(f"{folder}/test.jsonl")
    classes = {c: n for n, c in enumerate(binary.classes_)}
    truth = np.zeros((len(test_texts), len(classes)), dtype=bool)
    for i, row in enumerate(test_labels):
        truth[i, [classes[l] for l in row if l in classes]] = True
    scores = model.decision_function(union.transform(test_texts))
    order = np.argsort(-scores, axis=1)
    result = {"features": x.shape[1], "classes": len(classes), "seconds": trained - start, "seconds of features": made - start}
    hits = np.take_along_axis(truth, order[:, :5], axis=1)
    for k in (1, 3, 5):
        result[f"precision_at_{k}"] = float(hits[:, :k].mean())
    result["micro_f1"] = float(f1_score(truth, scores > 0, average="micro"))
    result["macro_f1"] = float(f1_score(truth, scores > 0, average="macro", zero_division=0))
    result["subset_accuracy"] = float((truth == (scores > 0)).all(axis=1).mean())
    return result


def by_treeloss(folder, program, *flags):
    model = f"{folder}/model.safetensors"
    start = used()
    subprocess.run([program, "train", "--data", f"{folder}/train.jsonl", "--model", model, "--threads", "1", *flags], check=True)
    seconds = used() - start
    out = subprocess.run([program, "evaluate", "--model", model, "--data", f"{folder}/test.jsonl", "--json"], check=True, capture_output=True, text=True)
    result = json.loads(out.stdout)
    result = {k: v for k, v in result.items() if isinstance(v, float)} # with the seconds of evaluate
    return result | {"seconds": seconds, "model bytes": os.path.getsize(model)}


if __name__ == "__main__":
    if sys.argv[1:2] == ["data"] and len(sys.argv) == 3:
        write_data(sys.argv[2])
    elif sys.argv[1:2] == ["compare"] and len(sys.argv) >= 4:
        os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
        for name, result in ("treeloss", by_treeloss(*sys.argv[2:])), ("scikit-learn", by_sklearn(sys.argv[2])):
            print(name, json.dumps(result, indent=2))
    elif sys.argv[1:2] == ["treeloss"] and len(sys.argv) >= 4:
        print(json.dumps(by_treeloss(*sys.argv[2:]), indent=2))
    elif sys.argv[1:2] == ["sklearn"] and len(sys.argv) == 3:
        print(json.dumps(by_sklearn(sys.argv[2]), indent=2))
    else:
        sys.exit(__doc__)
