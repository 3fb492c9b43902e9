"""Makes a small static sentence encoder of texts.

    python3 bench/encoder.py train.csv FOLDER [--dim 256] [--projection]

FOLDER is in the layout of model2vec. Words that occur twice and more get the left
singular vectors of their positive pointwise mutual information with other words of the
same text, times the root of the singular value (--projection: a random projection of the
same matrix), and the weight 1e-3 / (1e-3 + frequency). It knows what the texts know,
without a label: a stand-in for encoders that were learned from far more. Needs NumPy,
SciPy and scikit-learn.
"""

import argparse
import collections
import csv
import json
import os
import re
import struct

import numpy
import scipy.sparse


def words_of(text):
    return re.findall(r"\w+|[^\w\s]", text.lower())


def association(texts, place):
    """Positive pointwise mutual information; contexts count to the power 0.75."""
    rows, columns = zip(*{(n, place[w]) for n, text in enumerate(texts) for w in text if w in place})
    has = scipy.sparse.csr_matrix((numpy.ones(len(rows)), (rows, columns)), shape=(len(texts), len(place)))
    both = (has.T @ has).tocoo()
    count = numpy.asarray(both.sum(0)).ravel() + 1e-9
    context = count**0.75
    information = numpy.log(both.data * context.sum() / (count[both.row] * context[both.col]))
    keep = information > 0
    return scipy.sparse.csr_matrix((information[keep], (both.row[keep], both.col[keep])), shape=both.shape)


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("texts")
    args.add_argument("folder")
    args.add_argument("--dim", type=int, default=256)
    args.add_argument("--projection", action="store_true")
    opts = args.parse_args()
    with open(opts.texts, encoding="utf-8", newline="") as f:
        texts = [words_of(row["text"]) for row in csv.DictReader(f)]
    count = collections.Counter(w for text in texts for w in text)
    words = ["[UNK]"] + sorted(w for w, n in count.items() if n > 1)
    place = {w: i for i, w in enumerate(words)}
    matrix = association(texts, place)
    if opts.projection:
        vectors = matrix @ numpy.random.default_rng(0).normal(size=(len(words), opts.dim))
        vectors /= numpy.linalg.norm(vectors, axis=1, keepdims=True) + 1e-9
    else:
        from sklearn.utils.extmath import randomized_svd

        left, value, _ = randomized_svd(matrix, opts.dim, random_state=0)
        vectors = left * numpy.sqrt(value)
    vectors[0] = 0
    frequency = numpy.array([count[w] for w in words], float)
    weights = 1e-3 / (1e-3 + frequency / frequency.sum())
    write(opts.folder, place, vectors.astype("<f4"), weights.astype("<f4"))
    print(f"{opts.folder}: {len(words)} words, {vectors.shape[1]} dimensions")


def write(folder, place, vectors, weights):
    os.makedirs(folder, exist_ok=True)
    tokenizer = {"version": "1.0", "normalizer": {"type": "Lowercase"}, "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
                     {"type": "WhitespaceSplit"}, {"type": "Punctuation", "behavior": "Isolated"}]},
                 "model": {"type": "WordLevel", "unk_token": "[UNK]", "vocab": place}}
    header, data = {}, b""
    for name, x in (("embeddings", vectors), ("weights", weights)):
        header[name] = {"dtype": "F32", "shape": list(x.shape), "data_offsets": [len(data), len(data) + x.nbytes]}
        data += x.tobytes()
    text = json.dumps(header).encode()
    with open(os.path.join(folder, "model.safetensors"), "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + data)
    for name, value in (("tokenizer.json", tokenizer), ("config.json", {"normalize": True})):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
            json.dump(value, f)


if __name__ == "__main__":
    main()
