"""The peers in Python: takes a task as a line of JSON, answers with one.

Started by the program in this folder. A task is a function below; an answer has
"seconds", or "error".
"""
import importlib
import json
import sys
import time
import warnings

warnings.filterwarnings("ignore")
cache = {}


def version(package):
    try:
        return {"version": importlib.import_module(package).__version__}
    except ImportError:
        return {"version": None}


def median_time(work, seconds, clock):
    """The median time of a call, several at a time where one is short."""
    now = time.process_time if clock == "cpu" else time.perf_counter
    work()
    start = now()
    work()
    calls = max(1, int(2e-4 / max(now() - start, 1e-9)))
    times = []
    begin = now()
    while now() - begin < seconds or len(times) < 3:
        start = now()
        for _ in range(calls):
            work()
        times.append((now() - start) / calls)
    times.sort()
    return (times[(len(times) - 1) // 2] + times[len(times) // 2]) / 2


def step(b, d, k, none, seconds, clock, threads):
    """A training step of a linear layer with SGD, momentum and weight decay."""
    import torch

    torch.set_num_threads(threads)
    key = ("step", b, d, k)
    if key not in cache:
        torch.manual_seed(1)
        layer = torch.nn.Linear(d, k)
        optimiser = torch.optim.SGD(layer.parameters(), lr=0.01, momentum=0.9, weight_decay=3e-4)
        cache[key] = layer, optimiser, torch.rand(b, d) - 0.5, torch.randint(0, k, (b,))
    layer, optimiser, x, y = cache[key]

    def work():
        optimiser.zero_grad(set_to_none=none)
        torch.nn.functional.cross_entropy(layer(x), y).backward()
        optimiser.step()

    return {"seconds": median_time(work, seconds, clock)}


def sgd(file, features):
    """One epoch of one-against-rest logistic regression by SGD."""
    from sklearn.datasets import load_svmlight_file
    from sklearn.linear_model import SGDClassifier

    if file not in cache:
        cache[file] = load_svmlight_file(file, n_features=features, zero_based=False)
    x, y = cache[file]
    model = SGDClassifier(loss="log_loss", max_iter=1, tol=None, random_state=1)
    start = time.process_time()
    model.fit(x, y)
    return {"seconds": time.process_time() - start}


def balltree(file, columns):
    import numpy
    from sklearn.neighbors import BallTree

    x = numpy.fromfile(file, dtype="<f4").reshape(-1, columns).astype("f8")
    start = time.process_time()
    BallTree(x, leaf_size=2)
    return {"seconds": time.process_time() - start}


def clinc(method, train, test):
    """From a file to a model, on words, pairs of words and 2- to 5-grams."""
    import csv

    from sklearn import linear_model, pipeline, svm
    from sklearn.feature_extraction.text import TfidfVectorizer

    def read(path):
        with open(path, newline="") as f:
            rows = list(csv.DictReader(f))
        return [r["text"] for r in rows], [r["label"] for r in rows]

    start = time.perf_counter()
    model = pipeline.make_pipeline(
        pipeline.make_union(
            TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True),
            TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 5), sublinear_tf=True),
        ),
        svm.LinearSVC() if method == "LinearSVC" else linear_model.LogisticRegression(C=10, max_iter=200),
    )
    model.fit(*read(train))
    took = time.perf_counter() - start
    return {"seconds": took, "accuracy": model.score(*read(test))}


tasks = {f.__name__: f for f in (version, step, sgd, balltree, clinc)}
for line in sys.stdin:
    try:
        task = json.loads(line)
        answer = tasks[task.pop("task")](**task)
    except Exception as e:  # noqa: BLE001: the other side decides
        answer = {"error": f"{type(e).__name__}: {e}"}
    print(json.dumps(answer), flush=True)
