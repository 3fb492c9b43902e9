"""Writes texts of many classes: train.csv, test.csv and taxonomy.csv in a folder.

    python3 bench/classes.py FOLDER [--classes 1000] [--texts 10]

A class is named by a word of its own and the word of its group; ten classes are a
group, ten groups a field. A text has 12 words: each is with probability 1/4 one of
the 12 words that its class uses most, with 1/8 one that its group uses most, else any
word, by Zipf's law. Words are made of syllables, so n-grams of letters repeat.
"""

import argparse
import csv
import os
import random

from words import made_up


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("folder")
    args.add_argument("--classes", type=int, default=1000)
    args.add_argument("--texts", type=int, default=10, help="of each class, for training; a fifth as many to test")
    args.add_argument("--words", type=int, default=20000, help="of the vocabulary")
    args.add_argument("--seed", type=int, default=1)
    opts = args.parse_args()
    rng = random.Random(opts.seed)
    words = made_up(rng, opts.words)
    zipf = [1 / (rank + 3) for rank in range(len(words))]
    cumulative, total = [], 0
    for z in zipf:
        total += z
        cumulative.append(total)

    def usual(n):
        return rng.choices(words, cum_weights=cumulative, k=n)

    group_words = [rng.sample(words[100:], 12) for _ in range((opts.classes + 9) // 10)]
    class_words = [rng.sample(words[100:], 12) for _ in range(opts.classes)]
    names = [f"{own[0]} {group_words[c // 10][0]} {c}" for c, own in enumerate(class_words)]

    def text(c):
        def word():
            u = rng.random()
            if u < 1 / 4:
                return rng.choice(class_words[c])
            return rng.choice(group_words[c // 10]) if u < 3 / 8 else usual(1)[0]

        return " ".join(word() for _ in range(12))

    os.makedirs(opts.folder, exist_ok=True)
    for name, texts in ("train.csv", opts.texts), ("test.csv", max(1, opts.texts // 5)):
        with open(os.path.join(opts.folder, name), "w", newline="") as f:
            out = csv.writer(f, lineterminator="\n")
            out.writerow(["text", "label"])
            for c in range(opts.classes):
                for _ in range(texts):
                    out.writerow([text(c), names[c]])
    with open(os.path.join(opts.folder, "taxonomy.csv"), "w", newline="") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(["label", "parent"])
        for c, name in enumerate(names):
            out.writerow([name, f"group {c // 10}"])
        for g in range(len(group_words)):
            out.writerow([f"group {g}", f"field {g // 10}"])


main()
