"""Writes a file of very many short texts, to train from as a stream.

    python3 bench/rows.py FOLDER [--rows 10000000] [--classes 100] [--sorted]

train.csv has 1.2 GB: 10 million rows of about 100 letters and a class; test.csv has
20,000 rows more. A text is a row of 13 words by Zipf's law, two of them from the 60
words of its class; one label in 50 is another class. With --sorted the rows of a class
stand together, which a trainer that does not shuffle cannot learn from.
"""

import argparse
import itertools
import os
import random

from words import made_up


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("folder")
    args.add_argument("--rows", type=int, default=10_000_000)
    args.add_argument("--classes", type=int, default=100)
    args.add_argument("--words", type=int, default=100_000, help="of the vocabulary")
    args.add_argument("--sorted", action="store_true", help="by class")
    args.add_argument("--seed", type=int, default=1)
    opts = args.parse_args()
    rng = random.Random(opts.seed)
    words = made_up(rng, opts.words)
    usual = list(itertools.accumulate(1 / (rank + 3) for rank in range(len(words))))
    own = [rng.sample(words[300:], 60) for _ in range(opts.classes)]

    def rows(n, out):
        out.write("text,label\n")
        for i in range(n):
            c = i * opts.classes // n if opts.sorted else int(rng.random() * opts.classes)
            text = rng.choices(words, cum_weights=usual, k=11) + rng.choices(own[c], k=2)
            if rng.random() < 0.02:
                c = int(rng.random() * opts.classes)
            out.write(" ".join(text) + ",class " + own[c][0] + "\n")

    os.makedirs(opts.folder, exist_ok=True)
    with open(os.path.join(opts.folder, "train.csv"), "w") as f:
        rows(opts.rows, f)
    with open(os.path.join(opts.folder, "test.csv"), "w") as f:
        rows(20_000, f)


main()
