"""Train and test one peer: peers.py METHOD TRAIN TEST FASTTEXT FOLDER, prints JSON."""
import csv, json, os, subprocess, sys, time
import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import ComplementNB, MultinomialNB
from sklearn.pipeline import make_union
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

csv.field_size_limit(1 << 30)


def read(path):
    rows = list(csv.DictReader(open(path, encoding="utf-8")))
    y = [r["label"] for r in rows]
    if "text" in rows[0]:
        return [r["text"] for r in rows], y
    columns = [c for c in rows[0] if c != "label"]
    return np.array([[float(r[c]) for c in columns] for r in rows]), y


def fasttext(x, y, test, program, folder):
    path, model = os.path.join(folder, "fasttext.txt"), os.path.join(folder, "fasttext")
    code = {label: str(n) for n, label in enumerate(sorted(set(y)))}
    with open(path, "w", encoding="utf-8") as f:
        for text, label in zip(x, y):
            f.write("__label__%s %s\n" % (code[label], " ".join(text.lower().split())))
    epochs = "100" if len(y) < 5000 else "25"
    subprocess.run([program, "supervised", "-input", path, "-output", model, "-lr", "0.5", "-epoch", epochs, "-wordNgrams", "2",
                    "-minn", "2", "-maxn", "5", "-thread", "2", "-bucket", "500000"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    lines = "".join(" ".join(text.lower().split()) + "\n" for text in test)
    out = subprocess.run([program, "predict", model + ".bin", "-"], input=lines, capture_output=True, text=True, check=True).stdout
    labels = {v: k for k, v in code.items()}
    return [labels.get(line.removeprefix("__label__").strip()) for line in out.splitlines()]


def calibration_error(p, classes, y):
    top, right = p.max(1), classes[p.argmax(1)] == np.array(y)
    bins = np.minimum((top * 15).astype(int), 14)
    return 100 * sum(abs(top[bins == b].mean() - right[bins == b].mean()) * (bins == b).mean() for b in range(15) if (bins == b).any())


def main(method, train, test, program, folder):
    x, y = read(train)
    xt, yt = read(test)
    text = isinstance(x, list)
    begin = time.time()
    error = None
    if method == "fastText":
        if not text:
            sys.exit("fastText needs texts")
        predicted = fasttext(x, y, xt, program, folder)
        seconds = time.time() - begin
    else:
        vectorizer = StandardScaler()
        if text:
            vectorizer = make_union(TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True),
                                    TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 5), sublinear_tf=True))
        a = vectorizer.fit_transform(x)
        if method == "LinearSVC":
            model = LinearSVC(C=1)
        elif method == "LogisticRegression":
            model = LogisticRegression(max_iter=300)
            least = min(np.unique(y, return_counts=True)[1])
            model = GridSearchCV(model, {"C": [1, 10, 100]}, cv=3, n_jobs=2) if least >= 3 else LogisticRegression(C=10, max_iter=300)
        elif text:
            model = {"MultinomialNB": MultinomialNB(alpha=0.01), "ComplementNB": ComplementNB(alpha=0.1)}[method]
        else:
            sys.exit("naive Bayes needs counts")
        model.fit(a, y)
        seconds = time.time() - begin
        at = vectorizer.transform(xt)
        predicted = model.predict(at)
        if method == "LogisticRegression":
            error = calibration_error(model.predict_proba(at), model.classes_, yt)
    right = [p == t for p, t in zip(predicted, yt)]
    print(json.dumps({"accuracy": 100 * float(np.mean(right)), "macro_f1": 100 * f1_score(yt, [p or "" for p in predicted], average="macro", zero_division=0),
                      "calibration_error": error, "seconds": seconds}))


main(*sys.argv[1:])
