"""Writes data of many shapes: train.csv and test.csv in a folder for each.

    python3 bench/documents.py [--rows N] [--seed N] FOLDER [SHAPE...]

It has the sizes of sets that people train on: newsgroups, long articles, news of few
large and many small classes, Chinese, product titles, tweets in several scripts, logs,
addresses, code, JSON, DNA, long compounds, and numbers, wide and tall. Without a SHAPE
all are written, 0.4 GB; --rows bounds the rows for training. A text has words by Zipf's
law, some of them from those of its class or, more often, of several classes together; one
label in twenty is another class.
"""

import argparse
import csv
import itertools
import os
import random

from words import made_up

# Of each shape: form, texts for training (a fifth as many to test), classes, words of a
# text, share of words that say something of the class, skew (a class has 1/rank^skew as
# many texts as the first).
SHAPES = {
    "newsgroups": ("plain", 11000, 20, 330, 0.02, 0),
    "articles": ("plain", 3000, 50, 2200, 0.006, 0.3),
    "news": ("plain", 8000, 60, 130, 0.06, 1.2),
    "chinese": ("chinese", 5000, 20, 500, 0.02, 0.3),
    "titles": ("plain", 200000, 500, 9, 0.35, 0.8),
    "tweets": ("tweet", 20000, 40, 14, 0.2, 0.7),
    "logs": ("log", 20000, 50, 12, 0.2, 1.0),
    "addresses": ("address", 30000, 60, 6, 0.3, 0.7),
    "code": ("code", 5000, 30, 400, 0.02, 0.5),
    "json": ("json", 5000, 30, 120, 0.05, 0.5),
    "compounds": ("compound", 8000, 100, 60, 0.1, 0.5),
    "mixed": ("mixed", 6000, 40, 150, 0.06, 0.7),
    "dna": ("dna", 3000, 20, 1000, 0.1, 0),
    "wide": ("numbers", 5000, 20, 2000, 0.02, 0),
    "tall": ("numbers", 200000, 30, 50, 0.2, 0.5),
}


def plain(words, rng):
    return " ".join(w if rng.random() < 0.9 else w + rng.choice(".,;:") for w in words)


def chinese(words, rng):
    # A word is one to three letters, always the same ones.
    return "".join("".join(chr(0x4E00 + hash_of(w + str(i)) % 3000) for i in range(1 + len(w) % 3)) + ("\uff0c" if rng.random() < 0.08 else "") for w in words)


SCRIPTS = [0, 0, 0, 0x0430 - 97, 0x03B1 - 97, 0x0561 - 97, 0x10D0 - 97]  # Latin, Cyrillic, Greek, Armenian, Georgian


def tweet(words, rng):
    shift = rng.choice(SCRIPTS)
    out = []
    for w in words:
        w = "".join(chr(ord(c) + shift) for c in w)
        u = rng.random()
        if u < 0.1:
            n = rng.randrange(len(w))
            w = w[:n] + w[n + 1:] + rng.choice("aeiou")
        elif u < 0.2:
            w = rng.choice(["#" + w, "@" + w, w.upper(), w + "!!!", w + " " + chr(0x1F600 + rng.randrange(60))])
        out.append(w)
    return " ".join(out)


def log(words, rng):
    return "2026-%02d-%02dT%02d:%02d:%02d.%03dZ %s[%d]: %s: %s id=%08x took %dms" % (
        rng.randint(1, 12), rng.randint(1, 28), rng.randrange(24), rng.randrange(60), rng.randrange(60), rng.randrange(1000),
        words[0], rng.randrange(30000), rng.choice(["INFO", "WARN", "ERROR"]), "_".join(words[1:4]) + " " + " ".join(words[4:]), rng.getrandbits(32), rng.randrange(5000))


def address(words, rng):
    return "https://%s.%s/%s?%s=%d&s=%016x" % (words[0], rng.choice(["com", "org", "de"]), "/".join(words[1:-1]), words[-1], rng.randrange(1000), rng.getrandbits(64))


def code(words, rng):
    out, depth = [], 0
    for n in range(0, len(words) - 4, 4):
        a, b, c, d = words[n:n + 4]
        u = rng.random()
        if u < 0.15:
            line, after = "if %s.%s(%s) {" % (a, b, c), 1
        elif u < 0.3 and depth:
            line, after = "}", -1
        else:
            line, after = rng.choice(["%s := %s.%s(%s)", "return %s(%s, %s[%s])", "// %s %s %s %s"]) % (a, b, c.title(), d), 0
        out.append("\t" * depth + line)
        depth += after
    return "\n".join(out)


def json(words, rng):
    return "{" + ",".join('"%s":%s' % (w, rng.choice([str(rng.randrange(10**6)), '"%s"' % v, "null", '{"id":"%08x"}' % rng.getrandbits(32)])) for w, v in zip(words[::2], words[1::2])) + "}"


def compound(words, rng):
    out = []
    while words:
        n = rng.randint(1, 4)
        out.append("".join(words[:n]).capitalize())
        words = words[n:]
    return " ".join(out)


def mixed(words, rng):
    n = rng.choice([1, 8, 60, len(words)])
    return rng.choice([plain, chinese, tweet, code, json, compound])(list(words[:n]), rng)


def dna(words, rng):
    # A word is always the same six bases.
    return "".join("".join("acgt"[hash_of(w) >> 2 * n & 3] for n in range(6)) for w in words)


FORMS = {f.__name__: f for f in [plain, chinese, tweet, log, address, code, json, compound, mixed, dna]}


def hash_of(text):
    h = 2166136261
    for c in text:
        h = (h ^ ord(c)) * 16777619 & 0xFFFFFFFF
    return h ^ h >> 15


def labels(rng, n, classes, skew):
    often = list(itertools.accumulate((c + 1) ** -skew for c in range(classes)))
    return list(range(classes)) * 3 + rng.choices(range(classes), cum_weights=often, k=n - 3 * classes)


def texts(rng, form, classes, size, share):
    words = made_up(rng, 50000)
    usual = list(itertools.accumulate(1 / (rank + 3) for rank in range(len(words))))
    # Words of a class are frequent ones too, and half of them are those of its field.
    field = [rng.sample(words[50:8000], 60) for _ in range((classes + 4) // 5)]
    own = [field[c // 5] + rng.sample(words[50:], 60) for c in range(classes)]

    def text(c):
        n = max(7, int(size * rng.lognormvariate(0, 0.5)))
        said = rng.choices(words, cum_weights=usual, k=n)
        for i in range(n):
            if rng.random() < share:
                said[i] = rng.choice(own[c])
        return [FORMS[form](said, rng)]

    return ["text"], lambda c: "%s %s" % (own[c][0], own[c][-1]), text


def numbers(rng, classes, columns, share):
    means = [[rng.gauss(0, 1.5) if rng.random() < share else 0 for _ in range(columns)] for _ in range(classes)]
    return ["x%d" % j for j in range(columns)], lambda c: "class %d" % c, lambda c: ["%.3g" % rng.gauss(m, 1) for m in means[c]]


def write(folder, shape, most, rng):
    form, n, classes, size, share, skew = SHAPES[shape]
    n = min(n, most)
    header, name, row = numbers(rng, classes, size, share) if form == "numbers" else texts(rng, form, classes, size, share)
    os.makedirs(os.path.join(folder, shape), exist_ok=True)
    for file, rows in ("train.csv", n), ("test.csv", max(n // 5, 3 * classes)):
        with open(os.path.join(folder, shape, file), "w", newline="", encoding="utf-8") as f:
            out = csv.writer(f, lineterminator="\n")
            out.writerow(header + ["label"])
            for c in labels(rng, rows, classes, skew):
                out.writerow(row(c) + [name(rng.randrange(classes) if rng.random() < 0.05 else c)])


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--rows", type=int, default=10**9, help="at most this many rows for training, and a fifth as many to test")
    args.add_argument("--seed", default="", help="other data of the same shapes")
    args.add_argument("folder")
    args.add_argument("shape", nargs="*", help="of " + ", ".join(SHAPES))
    opts = args.parse_args()
    for shape in opts.shape or SHAPES:
        write(opts.folder, shape, opts.rows, random.Random(shape + opts.seed))


main()
