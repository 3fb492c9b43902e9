"""Writes long Chinese-like texts of many classes: train.csv and test.csv in a folder.

    python3 bench/chinese.py FOLDER [--texts 4400] [--classes 119] [--letters 300]

It has the size of iFLYTEK, app descriptions of some 300 letters in 119 classes, which
is what makes memory short: texts without spaces have millions of n-grams. A text is a
row of words of one to three letters, most by Zipf's law from words of all classes, one
in eight from the 40 words of its class. Every class is named by two of its words; some
have ten times as many texts as others.
"""

import argparse
import csv
import itertools
import os
import random


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("folder")
    args.add_argument("--texts", type=int, default=4400, help="for training; a fifth as many to test")
    args.add_argument("--classes", type=int, default=119)
    args.add_argument("--letters", type=int, default=300, help="of a text")
    args.add_argument("--words", type=int, default=60000, help="of the vocabulary")
    args.add_argument("--seed", type=int, default=1)
    opts = args.parse_args()
    rng = random.Random(opts.seed)
    letters = [chr(0x4E00 + i) for i in range(4000)]
    usual_letters = list(itertools.accumulate(1 / (rank + 20) for rank in range(len(letters))))
    words = {}
    while len(words) < opts.words:
        words["".join(rng.choices(letters, cum_weights=usual_letters, k=rng.choices([1, 2, 3], [1, 6, 3])[0]))] = None
    words = list(words)
    usual = list(itertools.accumulate(1 / (rank + 5) for rank in range(len(words))))
    own = [rng.sample(words[200:], 40) for _ in range(opts.classes)]
    often = list(itertools.accumulate(1 / (c + 10) for c in range(opts.classes)))

    def text(c):
        out, size = [], 0
        while size < opts.letters:
            word = rng.choice(own[c]) if rng.random() < 1 / 8 else rng.choices(words, cum_weights=usual)[0]
            size += len(word)
            out.append(word)
            if rng.random() < 1 / 12:
                out.append("\uff0c")
        return "".join(out)

    os.makedirs(opts.folder, exist_ok=True)
    for name, texts in ("train.csv", opts.texts), ("test.csv", opts.texts // 5):
        with open(os.path.join(opts.folder, name), "w", newline="", encoding="utf-8") as f:
            out = csv.writer(f, lineterminator="\n")
            out.writerow(["text", "label"])
            for c in itertools.chain(range(opts.classes), rng.choices(range(opts.classes), cum_weights=often, k=texts - opts.classes)):
                out.writerow([text(c), own[c][0] + own[c][1]])


main()
