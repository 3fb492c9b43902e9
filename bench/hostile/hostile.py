#!/usr/bin/env python3
"""Hostile inputs: runs treeloss on damaged files, strange paths and flags out of range.

    go build -o /tmp/treeloss ./cmd/treeloss
    python3 bench/hostile/hostile.py /tmp/treeloss [PART ...]

Each case has 8 GB of address space, 60 s and a folder of its own, and must end
right or with one line in a user's words: no trace of Go, no words of its packages,
no results that are no numbers, no file of the user changed, nothing left behind.
It prints the count of each part and every case that failed. PART picks parts by the
beginning of their names; --list lists the cases; --keep keeps the folder.

Python's standard library is enough. The cases are made by rule: commands x files x
damages, kinds of models x damages, and flags x values, read from the help.
"""
import gzip, hashlib, json, math, os, re, resource, shutil, stat, struct, subprocess, sys, tempfile, threading, time

SPACE, SECONDS = 8 << 30, 60

# What no line may hold: traces, and the words of Go's packages.
TRACE = re.compile(r"panic|goroutine |fatal error|runtime error|runtime:|SIGSEGV|SIGBUS|unexpected fault")
JARGON = re.compile(r"(?<![.\w])json:|strconv|unmarshal|invalid character|Go value|Go struct|max depth|<nil>|%!|context canceled|context deadline"
                    r"|\bEOF\b|interface \{|reflect\.|nil pointer|map\[|\[\]byte|\[\]string|0xc000|errors\.|fs\.|syscall|found \"\"|ParseFloat|ParseInt")
NO_NUMBER = re.compile(r"(?<![A-Za-z])(NaN|[+-]?Inf)(?![A-Za-z])")


class Case:
    """One call. args name files of the folder by {name}; want is 'ok', 'refused' or None
    for either."""

    def __init__(self, part, name, args, stdin=None, want=None, files=None, feed=None, folder=None):
        self.part, self.name, self.args, self.stdin, self.want = part, name, args, stdin, want
        self.files, self.feed = files or {}, feed
        self.folder = folder # a good one, of which {F} is a copy with the files in place of its own


# ------------------------------------------------------------------ good files

ROWS = [("it purrs on the sofa", "cat"), ("my cat meows at night", "cat"), ("a small cat sleeps", "cat"), ("it purrs and meows", "cat"),
        ("it barks at night", "dog"), ("the dog barks loud", "dog"), ("barking in the yard", "dog"), ("a dog fetches", "dog"),
        ("it sings in its cage", "bird"), ("a bird sings at dawn", "bird"), ("birds tweet in trees", "bird"), ("a bird flies", "bird")]


def texts(rows=ROWS):
    return "text,label\n" + "".join(f"{t},{l}\n" for t, l in rows)


def numbers(rows=12):
    out = "a,b,c,label\n"
    for i in range(rows):
        k = i % 3
        out += f"{k + i / 50},{2 * k - i / 40},{(i * 7) % 5},{'xyz'[k]}\n"
    return out


def jsonl(rows=ROWS):
    return "".join(json.dumps({"text": t, "label": l}) + "\n" for t, l in rows)


def fasttext(rows=ROWS):
    return "".join(f"__label__{l} {t}\n" for t, l in rows)


def libsvm(rows=12):
    return "".join(f"{'xyz'[i % 3]} {1 + i % 3}:1 {5 + i % 4}:{0.5 + i / 9:.3f}\n" for i in range(rows))


# Several labels an example, or none, in each format.
TAGS = [("a grey wolf in the wood", ["grey", "wild"]), ("a grey stone", ["grey"]), ("a red fox in the wood", ["wild"]), ("a red brick", [])] * 6


def xmc(rows=24):
    return f"{rows} 9 3\n" + "".join(("0,2", "1", "", "2")[i % 4] + f" {i % 4}:1 {5 + i % 3}:0.5\n" for i in range(rows))


def npy(shape, values, descr="<f8"):
    head = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}"
    head += " " * (63 - (10 + len(head)) % 64) + "\n"
    form = {"<f8": "d", "<f4": "f", "<i8": "q"}[descr]
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack(f"<{len(values)}{form}", *values)


TAXONOMY = "child,parent\ncat,pet\ndog,pet\nbird,animal\npet,animal\n"
VECTORS = "3 2\ncat 1 0\ndog 0.9 0.2\nbird -0.5 1\n"
DISTANCES = "cat\tdog\t1\ncat\tbird\t2\ndog\tbird\t2\n"
WEIGHTS = "label,weight\ncat,1\ndog,2\nbird,0.5\n"
NEWICK = "((cat,dog)pet,bird)animal;\n"
TREE = json.dumps({"format": "treeloss-tree", "version": 1, "nodes": [
    {"name": "animal", "parent": -1}, {"name": "pet", "parent": 0}, {"name": "cat", "parent": 1, "class": 0},
    {"name": "dog", "parent": 1, "class": 1}, {"name": "bird", "parent": 0, "class": 2}]})
TWEET = json.dumps({"id_str": "1", "full_text": "good morning \U0001F600", "lang": "en", "user": {"id_str": "7"}}) + "\n"

GOOD = {
    "texts.csv": texts(), "numbers.csv": numbers(), "texts.jsonl": jsonl(), "texts.ft": fasttext(), "sparse.svm": libsvm(),
    "x.npy": npy("(12, 3)", [float((i * 7) % 11 + 9 * (i // 3 % 3)) for i in range(36)]), "y.npy": npy("(12,)", [i % 3 for i in range(12)], "<i8"),
    "y.txt": "".join("xyz"[i % 3] + "\n" for i in range(12)), "taxonomy.csv": TAXONOMY, "vectors.vec": VECTORS, "distances.tsv": DISTANCES,
    "tags.jsonl": "".join(json.dumps({"text": t, "labels": l}) + "\n" for t, l in TAGS), "tags.csv": "text,tags\n" + "".join(f"{t},{';'.join(l)}\n" for t, l in TAGS),
    "tags.ft": "".join("".join(f"__label__{x} " for x in l) + t + "\n" for t, l in TAGS), "xmc.txt": xmc(),
    "weights.csv": WEIGHTS, "tree.nwk": NEWICK, "tree.json": TREE, "tweets.jsonl": TWEET * 30, "questions.txt": "it purrs\nwho barks?\n",
}

# ------------------------------------------------------------------ damages

def cut(part):
    return lambda b: b[:max(1, int(len(b) * part))]


def flip(place, bit=3):
    def damage(b):
        b = bytearray(b)
        b[int(place * (len(b) - 1))] ^= 1 << bit
        return bytes(b)
    return damage


def insert(data, place=0.5):
    return lambda b: b[:int(place * len(b))] + data + b[int(place * len(b)):]


# Damages of any file.
ANY = {
    "empty": lambda b: b"", "one byte": lambda b: b[:1], "cut in half": cut(0.5), "cut by a byte": lambda b: b[:-1], "blank lines": lambda b: b"\n" * 1000,
    "spaces": lambda b: b" " * 5000, "a NUL": insert(b"\x00"), "NUL in front": insert(b"\x00" * 16, 0), "broken UTF-8": insert(b"\xff\xfe\xc3"), "a mark in the middle": insert(b"\xef\xbb\xbf"),
    "UTF-16": lambda b: b"\xff\xfe" + b.decode("latin-1").encode("utf-16le"), "UTF-16, no mark": lambda b: b.decode("latin-1").encode("utf-16le"),
    "UTF-32": lambda b: b.decode("latin-1").encode("utf-32"), "old Mac line ends": lambda b: b.replace(b"\n", b"\r"), "gzip": lambda b: gzip.compress(b),
    "cut gzip": lambda b: gzip.compress(b * 50)[:-20], "gzip with a flipped bit": lambda b: flip(0.6)(gzip.compress(b * 50)), "gzip twice": lambda b: gzip.compress(gzip.compress(b)),
    "zstd magic": lambda b: b"\x28\xb5\x2f\xfd" + b, "zip magic": lambda b: b"PK\x03\x04" + b, "noise": lambda b: hashlib.shake_256(b).digest(5000),
    "HTML": lambda b: b"<!DOCTYPE html><html><body>404 &nbsp; not found</body></html>", "a bracket": lambda b: b"[" * 100000, "a brace": lambda b: b'{"a":' * 100000,
    "one endless line": lambda b: b"x" * (5 << 20), "a million commas": lambda b: b"," * (1 << 20) + b"\n", "twice": lambda b: b + b, "reversed": lambda b: b[::-1],
    "quotes": lambda b: b.replace(b"a", b'"'), "an open quote": lambda b: b'"' + b, "tabs for commas": lambda b: b.replace(b",", b"\t"),
    "safetensors head": lambda b: struct.pack("<Q", 1 << 60) + b'{"a":1}', "bomb of zeros": "zeros", "bomb of blank lines": "blanks",
}

# Damages of files of examples: whole texts.
LONG = "word " * 200000
TABLES = {
    "header only": "text,label\n", "one row": "text,label\na,x\n", "one class": "text,label\n" + "a b,x\n" * 5, "two rows": "text,label\na,x\nb,y\n",
    "each row its class": "text,label\n" + "".join(f"text {i},class {i}\n" for i in range(60)), "same row, other labels": "text,label\n" + "".join(f"same words,{i % 3}\n" for i in range(30)),
    "label with NUL": 'text,label\na,"x\0y"\nb,z\n', "empty label": "text,label\na,\nb,z\n", "blank label": "text,label\na,   \nb,z\n", "empty texts": "text,label\n" + ",x\n,y\n" * 6,
    "no letters": "text,label\n" + "!!!,x\n???,y\n" * 6, "label of 1 MB": "text,label\na," + "x" * (1 << 20) + "\nb,z\n", "text of 1 MB": "text,label\n" + LONG + ",x\nb,z\n",
    "label on two lines": 'text,label\na,"x\ny"\nb,z\n' * 1, "labels of controls": "text,label\na,\x1b[31mred\nb,\x07bell\n", "labels of one look": "text,label\na,\u00e9\nb,e\u0301\nc,\u200be\nd,e\n",
    "right to left": "text,label\n\u202eabc,\u05d0\nb,\u05d1\n", "100,000 columns": ",".join(f"c{i}" for i in range(100000)) + ",label\n" + ",".join("1" for _ in range(100000)) + ",x\n" + ",".join("2" for _ in range(100000)) + ",y\n",
    "two labels columns": "text,label,label\na,x,y\nb,y,x\n", "no label column": "text,thing\na,x\n", "too few columns": "text,label\na,x\nb\n", "too many columns": "text,label\na,x\nb,y,z\n",
    "a bare quote": 'text,label\na "b" c,x\nb,y\n', "quote never closed": 'text,label\n"a,x\nb,y\n', "text behind a quote": 'text,label\n"a"b,x\nb,y\n', "NaN": "a,label\n1,x\nNaN,y\n", "Inf": "a,label\n1,x\nInf,y\n",
    "1e308": "a,label\n1e308,x\n-1e308,y\n1e308,x\n-1e308,y\n", "1e38": "a,label\n3e38,x\n-3e38,y\n1e37,x\n0,y\n", "1e-320": "a,label\n1e-320,x\n2e-320,y\n", "constant": "a,b,label\n1,1,x\n1,1,y\n" * 4,
    "1e999": "a,label\n1e999,x\n2,y\n", "hexadecimal": "a,label\n0x1p-2,x\n2,y\n", "decimal commas": 'a;label\n"1,5";x\n2,5;y\n', "empty number": "a,label\n,x\n2,y\n", "word in numbers": "a,label\n1,x\nabc,y\n",
    "3,000 classes": "text,label\n" + "".join(f"text {i} {i * 7},class {i}\n" for i in range(3000)), "sep=": "sep=\x00\ntext,label\na,x\n", "labels are numbers": "a,label\n" + "".join(f"{i},{i % 4}\n" for i in range(40)),
}
RECORDS = {
    "one row.jsonl": '{"text":"a","label":"x"}\n', "label is a number.jsonl": '{"text":"a","label":3}\n{"text":"b","label":4}\n', "label is null.jsonl": '{"text":"a","label":null}\n',
    "label is a list.jsonl": '{"text":"a","label":["x"]}\n{"text":"b","label":["y"]}\n', "text is a number.jsonl": '{"text":3,"label":"x"}\n{"text":"b","label":"y"}\n', "text is an object.jsonl": '{"text":{},"label":"x"}\n',
    "label and labels.jsonl": '{"text":"a","label":"x","labels":{"y":1}}\n{"text":"b","label":"y"}\n', "key twice.jsonl": '{"text":"a","text":"b","label":"x"}\n', "array.jsonl": '[{"text":"a","label":"x"}]\n',
    "open object.jsonl": '{"text":"a","label":"x"\n', "trailing comma.jsonl": '{"text":"a","label":"x",}\n', "single quotes.jsonl": "{'text':'a','label':'x'}\n", "deep.jsonl": '{"text":"a","label":"x","z":' + "[" * 200000 + "]" * 200000 + "}\n",
    "1e999.jsonl": '{"x":[1,1e999],"label":"x"}\n', "NaN.jsonl": '{"x":[1,NaN],"label":"x"}\n', "half a pair.jsonl": '{"text":"\\ud800","label":"\\udc00"}\n{"text":"b","label":"y"}\n', "NUL escaped.jsonl": '{"text":"a","label":"x\\u0000y"}\n{"text":"b","label":"y"}\n',
    "lists of two lengths.jsonl": '{"x":[1,2],"label":"x"}\n{"x":[1],"label":"y"}\n', "empty list.jsonl": '{"x":[],"label":"x"}\n', "100,000 soft labels.jsonl": '{"text":"a b","labels":{' + ",".join(f'"c{i}":1' for i in range(100000)) + "}}\n" + '{"text":"c d","labels":{"c1":1}}\n',
    "soft labels of 0.jsonl": '{"text":"a","labels":{"x":0}}\n', "negative soft label.jsonl": '{"text":"a","labels":{"x":-1,"y":2}}\n', "soft label 1e308.jsonl": '{"text":"a","labels":{"x":1e308,"y":1e308}}\n{"text":"b","labels":{"y":1}}\n',
    "XMC, fewer examples.txt": xmc().replace("24 9 3", "99 9 3"), "XMC, more examples.txt": xmc().replace("24 9 3", "3 9 3"), "XMC of 10^18.txt": xmc().replace("24 9 3", "999999999999999999 2147483647 999999999999999999"), "XMC, a label out of range.txt": xmc().replace("24 9 3", "24 9 2"),
    "XMC, a feature out of range.txt": xmc().replace("24 9 3", "24 6 3"), "XMC of 0.txt": "0 0 0\n", "XMC of 10^30.txt": "1" + "0" * 30 + " 1 1\n0 0:1\n", "10^7 labels.svm": "1," * 10**7 + "1 1:1\n", "10^6 labels.jsonl": '{"text":"a","labels":[' + ",".join(f'"l{i}"' for i in range(10**6)) + "]}\n",
    "the same label 10^6 times.ft": "__label__a " * 10**6 + "a\n", "no labels at all.jsonl": '{"text":"a","labels":[]}\n' * 30, "all labels on every row.jsonl": '{"text":"a b","labels":["x","y","z"]}\n' * 30, "one label in 30.jsonl": '{"text":"a b","labels":[]}\n' * 29 + '{"text":"c","labels":["x"]}\n',
    "labels in labels.jsonl": '{"text":"a","labels":["x",["y"]]}\n', "an empty label in a list.jsonl": '{"text":"a","labels":["x",""]}\n', "a label of a list is null.jsonl": '{"text":"a","labels":["x",null]}\n', "a label twice.jsonl": '{"text":"a","labels":["x","x"]}\n{"text":"b","labels":["y"]}\n',
    "several labels, then one.jsonl": '{"text":"a","labels":["x","y"]}\n{"text":"b","labels":"z"}\n', "several labels, then soft ones.jsonl": '{"text":"a","labels":["x","y"]}\n{"text":"b","labels":{"z":1}}\n', "an empty label.svm": "1,,2 1:1\n",
    "no label.ft": "it purrs\n", "empty label.ft": "__label__ it purrs\n", "two labels.ft": "__label__a __label__b it purrs\n", "label alone.ft": "__label__a\n__label__b\n",
    "index 2147483646.svm": "x 2147483646:1\ny 1:1\n", "index 99999999999.svm": "x 99999999999:1\ny 1:1\n", "index 0.svm": "x 0:1\ny 1:1\n", "index -1.svm": "x -1:1\n", "index falls.svm": "x 3:1 2:1\n", "index twice.svm": "x 2:1 2:1\n",
    "value NaN.svm": "x 1:nan\ny 1:1\n", "value 1e308.svm": "x 1:1e308\ny 1:-1e308\n", "no value.svm": "x 1:\n", "no pairs.svm": "x\ny\n", "query.svm": "1 qid:3 1:2\n", "10^5 pairs.svm": "x " + " ".join(f"{i}:1" for i in range(1, 100001)) + "\ny 1:1\n",
}
ARRAYS = {
    "more rows than labels": npy("(13, 3)", [1.0] * 39), "fewer rows": npy("(11, 3)", [float(i) for i in range(33)]), "NaN": npy("(12, 3)", [float(i) for i in range(35)] + [math.nan]), "one dimension": npy("(36,)", [float(i) for i in range(36)]),
    "three dimensions": npy("(12, 3, 1)", [float(i) for i in range(36)]), "no columns": npy("(12, 0)", []), "huge shape": npy("(999999999999, 3)", [1.0] * 36), "overflowing shape": npy("(9223372036854775807, 9223372036854775807)", [1.0]),
    "many columns": npy("(1, 999999999)", [1.0] * 36), "more bytes": npy("(12, 3)", [float(i) for i in range(40)]), "3e38": npy("(12, 3)", [(-1) ** i * 3e38 for i in range(36)], "<f4"), "1e308": npy("(12, 3)", [(-1) ** i * 1e308 for i in range(36)]),
    "no shape": b"\x93NUMPY\x01\x00\x10\x00{'descr':'<f8'}\n", "version 9": b"\x93NUMPY\x09\x00\x10\x00" + b" " * 16, "header of 4 GB": b"\x93NUMPY\x02\x00\xff\xff\xff\xff" + b" " * 16,
}

# ------------------------------------------------------------------ models

def read_model(b):
    n = struct.unpack("<Q", b[:8])[0]
    return json.loads(b[8:8 + n]), b[8 + n:]


def write_model(head, data):
    """Writes a model with a right checksum, so that only what is in it is wrong."""
    head = json.loads(json.dumps(head))
    meta = head.setdefault("__metadata__", {})
    meta.pop("crc32c", None)
    meta["checksum"] = "0" * 64
    text = json.dumps(head).encode()
    text += b" " * (-len(text) % 8)
    whole = struct.pack("<Q", len(text)) + text + data
    return whole.replace(b'"checksum": "' + b"0" * 64, b'"checksum": "' + hashlib.sha256(whole).hexdigest().encode(), 1)


def in_metadata(key, change):
    def damage(b):
        head, data = read_model(b)
        meta = head["__metadata__"]
        if key not in meta:
            return None
        value = json.loads(meta[key]) if meta[key][:1] in "[{" else meta[key]
        meta[key] = change(value)
        if not isinstance(meta[key], str):
            meta[key] = json.dumps(meta[key])
        return write_model(head, data)
    return damage


def in_tensor(name, form, value, which=slice(0, 1)):
    def damage(b):
        head, data = read_model(b)
        if name not in head:
            return None
        a, z = head[name]["data_offsets"]
        size = struct.calcsize(form)
        one = struct.pack("<" + form, value)
        body = bytearray(data[a:z])
        for i in range(*which.indices(len(body) // size)):
            body[i * size:(i + 1) * size] = one
        return write_model(head, data[:a] + bytes(body) + data[z:])
    return damage


def in_head(change):
    def damage(b):
        head, data = read_model(b)
        change(head)
        return write_model(head, data)
    return damage


def set_shape(name, shape):
    def change(head):
        if name in head:
            head[name]["shape"] = shape
    return change


def without(name):
    return in_head(lambda head: head.pop(name, None))


EVERY = slice(0, None)
FORGED = {
    "an empty class name": in_metadata("labels", lambda l: [""] + l[1:]), "two classes of one name": in_metadata("labels", lambda l: [l[1]] + l[1:]), "a class too few": in_metadata("labels", lambda l: l[1:]),
    "a class too many": in_metadata("labels", lambda l: l + ["more"]), "labels are numbers": in_metadata("labels", lambda l: [1, 2, 3]), "labels are a text": in_metadata("labels", lambda l: "cat"), "no labels": in_metadata("labels", lambda l: []),
    "format version 99": in_metadata("format_version", lambda v: "99"), "another format": in_metadata("format", lambda v: "other"), "training is a list": in_metadata("training", lambda t: []), "training is cut": in_metadata("training", lambda t: "{\"a\":"),
    "features are a text": in_metadata("features", lambda t: "text"), "another output": in_metadata("output", lambda v: "magic"), "a tree that is none": in_metadata("tree", lambda v: "{"),
    "temperature 0": in_metadata("training", lambda t: dict(t, calibration={"temperature": 0})), "temperature 1e300": in_metadata("training", lambda t: dict(t, calibration={"temperature": 1e300})),
    "idf below 0": in_tensor("idf", "f", -1.0), "idf NaN": in_tensor("idf", "f", math.nan), "idf 3e38": in_tensor("idf", "f", 3e38, EVERY), "weights of 3e38": in_tensor("weight", "f", 3e38, EVERY), "weights NaN": in_tensor("weight", "f", math.nan, EVERY),
    "weights Inf": in_tensor("weight", "f", math.inf), "weights of 1e29": in_tensor("weight", "f", 1e29, EVERY), "threshold NaN": in_tensor("threshold", "f", math.nan), "threshold 3e38": in_tensor("threshold", "f", 3e38, EVERY), "no threshold": without("threshold"), "counts below 0": in_tensor("label_examples", "i", -5, EVERY), "bias NaN": in_tensor("bias", "f", math.nan), "bias 3e38": in_tensor("bias", "f", 3e38, EVERY), "scale 0": in_tensor("scale", "f", 0.0, EVERY), "scale 3e38": in_tensor("scale", "f", 3e38, EVERY),
    "mean NaN": in_tensor("mean", "f", math.nan), "vocabulary of NUL": in_tensor("vocabulary", "B", 0, EVERY), "vocabulary of 255": in_tensor("vocabulary", "B", 255), "no vocabulary": without("vocabulary"), "no weights": without("weight"), "no bias": without("bias"), "no idf": without("idf"),
    "a negative shape": in_head(set_shape("weight", [-1, 3])), "a huge shape": in_head(set_shape("weight", [1 << 62, 1 << 62])), "a shape too small": in_head(set_shape("bias", [1])), "no metadata": in_head(lambda h: h.pop("__metadata__")),
}
ROTTEN = {**{f"cut at {p:.2f}": cut(p) for p in (0, 0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99)}, **{f"bit flipped at {p:.2f}": flip(p, bit) for p, bit in ((0, 7), (0.0005, 0), (0.004, 6), (0.02, 1), (0.1, 5), (0.3, 2), (0.5, 7), (0.7, 0), (0.85, 4), (1, 3))},
          "bytes behind": lambda b: b + b"x", "head of 2^60": lambda b: struct.pack("<Q", 1 << 60) + b[8:], "head of 0": lambda b: struct.pack("<Q", 0) + b[8:], "head of the file": lambda b: struct.pack("<Q", len(b)) + b[8:]}

# ------------------------------------------------------------------ commands

# A place for a damaged file: {X} is its path. What it is a copy of comes first.
T, N = "{texts.csv}", "{numbers.csv}"
PLACES = {
    "train --data": ("texts.csv", ["train", "--data", "{X}", "--model", "{out}/m.st"]),
    "train numbers": ("numbers.csv", ["train", "--data", "{X}", "--model", "{out}/m.st"]),
    "train jsonl": ("texts.jsonl", ["train", "--data", "{X}", "--model", "{out}/m.st"]),
    "train fastText": ("texts.ft", ["train", "--data", "{X}", "--model", "{out}/m.st"]),
    "train libsvm": ("sparse.svm", ["train", "--data", "{X}", "--model", "{out}/m.st"]),
    "train several labels": ("tags.jsonl", ["train", "--data", "{X}", "--model", "{out}/m.st"]),
    "train --label-separator": ("tags.csv", ["train", "--data", "{X}", "--label-separator", ";", "--model", "{out}/m.st"]),
    "train --multilabel": ("tags.ft", ["train", "--data", "{X}", "--multilabel", "--model", "{out}/m.st"]),
    "train XMC": ("xmc.txt", ["train", "--data", "{X}", "--model", "{out}/m.st"]),
    "evaluate several labels": ("tags.jsonl", ["evaluate", "--model", "{tags.st}", "--data", "{X}"]),
    "predict several labels": ("questions.txt", ["predict", "--model", "{tags.st}", "{X}"]),
    "train npy": ("x.npy", ["train", "--data", "{X}", "--labels", "{y.npy}", "--model", "{out}/m.st"]),
    "train --labels": ("y.npy", ["train", "--data", "{x.npy}", "--labels", "{X}", "--model", "{out}/m.st"]),
    "train --skip-bad": ("texts.csv", ["train", "--data", "{X}", "--skip-bad", "--model", "{out}/m.st"]),
    "train --valid": ("texts.csv", ["train", "--data", T, "--valid", "{X}", "--model", "{out}/m.st"]),
    "train --taxonomy": ("taxonomy.csv", ["train", "--data", T, "--taxonomy", "{X}", "--model", "{out}/m.st"]),
    "train --taxonomy json": ("tree.json", ["train", "--data", T, "--taxonomy", "{X}", "--model", "{out}/m.st"]),
    "train --taxonomy newick": ("tree.nwk", ["train", "--data", T, "--taxonomy", "{X}", "--model", "{out}/m.st"]),
    "train --label-vectors": ("vectors.vec", ["train", "--data", T, "--label-vectors", "{X}", "--model", "{out}/m.st"]),
    "train --distances": ("distances.tsv", ["train", "--data", T, "--distances", "{X}", "--model", "{out}/m.st"]),
    "train --class-weight": ("weights.csv", ["train", "--data", T, "--class-weight", "{X}", "--model", "{out}/m.st"]),
    "train --init-model": ("text.st", ["train", "--data", T, "--init-model", "{X}", "--trainer", "sgd", "--model", "{out}/m.st"]),
    "train --weights-model": ("text.st", ["train", "--data", T, "--weights-model", "{X}", "--model", "{out}/m.st"]),
    "train --network": ("texts.csv", ["train", "--network", "resnet20", "--data", "{X}", "--model", "{out}/m.st"]),
    "evaluate --data": ("texts.csv", ["evaluate", "--model", "{text.st}", "--data", "{X}"]),
    "evaluate --oos": ("questions.txt", ["evaluate", "--model", "{text.st}", "--data", T, "--oos", "{X}"]),
    "predict FILE": ("questions.txt", ["predict", "--model", "{text.st}", "{X}"]),
    "predict numbers": ("numbers.csv", ["predict", "--model", "{number.st}", "{X}"]),
    "predict --format lines": ("questions.txt", ["predict", "--format", "lines", "--model", "{text.st}", "{X}"]),
    "predict --taxonomy": ("taxonomy.csv", ["predict", "--model", "{text.st}", "--confidence", "0.5", "--taxonomy", "{X}", "{questions.txt}"]),
    "explain": ("questions.txt", ["explain", "--model", "{text.st}", "{X}"]),
    "compare --data": ("texts.csv", ["compare", "--data", "{X}", "--methods", "cross-entropy,names"]),
    "compare --test": ("texts.csv", ["compare", "--data", T, "--test", "{X}", "--methods", "cross-entropy"]),
    "tune": ("texts.csv", ["tune", "--data", "{X}", "--trials", "2"]),
    "cv": ("texts.csv", ["cv", "--data", "{X}", "--folds", "2", "--sharing", "none", "--loss", "cross-entropy"]),
    "doctor": ("texts.csv", ["doctor", "--data", "{X}"]),
    "tree build --data": ("texts.csv", ["tree", "build", "--data", "{X}", "--out", "{out}/t.json"]),
    "tree build --labels": ("y.txt", ["tree", "build", "--labels", "{X}"]),
    "tree show": ("tree.json", ["tree", "show", "{X}"]),
    "tree check": ("tree.nwk", ["tree", "check", "{X}"]),
    "vectors info": ("vectors.vec", ["vectors", "info", "--vectors", "{X}"]),
    "vectors get": ("vectors.vec", ["vectors", "get", "--vectors", "{X}", "cat"]),
    "vectors nearest": ("vectors.vec", ["vectors", "nearest", "--vectors", "{X}", "cat"]),
    "tweets prepare": ("tweets.jsonl", ["tweets", "prepare", "--data", "{X}", "--out", "{out}/tweets"]),
    "tweets --emojis": ("y.txt", ["tweets", "prepare", "--data", "{tweets.jsonl}", "--emojis", "{X}", "--out", "{out}/tweets"]),
}
# A model in each command that takes one.
APPLY = {
    "predict": ["predict", "--model", "{X}", "{Q}"], "evaluate": ["evaluate", "--model", "{X}", "--data", "{D}"], "explain": ["explain", "--model", "{X}", "{Q}"],
    "tree show": ["tree", "show", "{X}"],
}
# A short call of each command, to which one flag is added.
CALLS = {
    "train": ["train", "--data", T, "--model", "{out}/m.st"], "train sgd": ["train", "--data", T, "--trainer", "sgd", "--model", "{out}/m.st"], "predict": ["predict", "--model", "{text.st}", "{questions.txt}"],
    "evaluate": ["evaluate", "--model", "{text.st}", "--data", T], "explain": ["explain", "--model", "{text.st}", "{questions.txt}"], "compare": ["compare", "--data", T, "--methods", "cross-entropy"],
    "tune": ["tune", "--data", T, "--trials", "2"], "cv": ["cv", "--data", T, "--folds", "2", "--sharing", "none", "--loss", "cross-entropy"], "doctor": ["doctor", "--data", T], "tree build": ["tree", "build", "--data", T],
    "tree show": ["tree", "show", "{tree.json}"], "vectors nearest": ["vectors", "nearest", "--vectors", "{vectors.vec}", "cat"], "tweets prepare": ["tweets", "prepare", "--data", "{tweets.jsonl}", "--out", "{out}/tweets"],
    "experiment": ["experiment", "norms", "--runs", "1", "--n", "20", "--d", "4", "--k", "4", "--threads", "1"], "bench": None, "quickstart": None,
}
VALUES = {"int": ["-1", "0", "1000000000000", "99999999999999999999", "1.5", "x", ""], "uint": ["-1", "99999999999999999999", "x"], "float": ["-1", "0", "NaN", "Inf", "1e300", "1e-300", "x", ""],
          "ints": ["-1", "0", "1,1", "1000000000000", "x", ""], "duration": ["-1s", "0", "1", "1e9h", "99999999h", "x"], "size": ["-1", "0", "1", "1e30T", "x", "NaN"], "string": ["", "x", "\u00ff\u202e", "a" * 5000, "-", "--"],
          "strings": ["", ",", "x,x", "[", "a" * 5000], "stringArray": ["", "/", "-", "no such file"], "float64Slice": ["x", "-1", "2", "0.5,0.2", ""]}
CONFLICTS = [
    ["train", "--data", T], ["train", "--model", "{out}/m.st"], ["train", "--data", T, "--data", T, "--model", "{out}/m.st"], ["train", "--data", T, "--text", "text", "--features", "text", "--model", "{out}/m.st"],
    ["train", "--data", T, "--trainer", "converge", "--epochs", "3", "--model", "{out}/m.st"], ["train", "--data", T, "--trainer", "sgd", "--prior", "3", "--model", "{out}/m.st"], ["train", "--data", T, "--sharing", "taxonomy", "--model", "{out}/m.st"],
    ["train", "--data", T, "--sharing", "none+names", "--model", "{out}/m.st"], ["train", "--data", T, "--loss", "hxe", "--sharing", "names", "--model", "{out}/m.st"], ["train", "--data", T, "--resume", "--model", "{out}/m.st"],
    ["train", "--data", T, "--network", "resnet20", "--trainer", "converge", "--model", "{out}/m.st"], ["train", "--data", T, "--network", "bert:/", "--model", "{out}/m.st"], ["train", "--data", T, "--network", "x", "--model", "{out}/m.st"],
    ["train", "--data", N, "--names-as-examples", "on", "--model", "{out}/m.st"], ["train", "--data", N, "--text", "a", "--model", "{out}/m.st"], ["train", "--data", T, "--valid-labels", "x", "--model", "{out}/m.st"], ["train", "--data", T, "--label", "text", "--text", "text", "--model", "{out}/m.st"],
    ["train", "--data", T, "--weight", "label", "--model", "{out}/m.st"], ["train", "--data", T, "--unknown", "subword", "--model", "{out}/m.st"], ["train", "--data", T, "--format", "libsvm", "--model", "{out}/m.st"], ["train", "--data", T, "--format", "npy", "--model", "{out}/m.st"],
    ["train", "--data", T, "--format", "parquet", "--model", "{out}/m.st"], ["train", "--data", T, "--format", "lines", "--model", "{out}/m.st"], ["train", "--data", T, "--encoding", "utf-16le", "--model", "{out}/m.st"], ["train", "--data", T, "--encoding", "klingon", "--model", "{out}/m.st"],
    ["predict", "--model", "{text.st}", "{numbers.csv}"], ["predict", "--model", "{number.st}", "{questions.txt}"], ["predict", "--model", "{text.st}", "--confidence", "0.5", "{questions.txt}"], ["predict", "--model", "{text.st}", "--reject", "2", "{questions.txt}"],
    ["predict", "--model", "{text.st}", "--taxonomy", "{taxonomy.csv}", "{questions.txt}"], ["predict", "--model", "{text.st}", "--features", "a", "{questions.txt}"], ["predict", "--model", "{text.st}", "--echo", "--id", "x", "{questions.txt}"], ["predict", "{questions.txt}"],
    ["predict", "--model", "{text.st}", "{questions.txt}", "{questions.txt}"], ["predict", "--model", "{text.st}", "-", "-"], ["predict", "--model", "-", "{questions.txt}"], ["evaluate", "--model", "{text.st}"], ["evaluate", "--data", T], ["evaluate", "--model", "{text.st}", "--data", N],
    ["evaluate", "--model", "{text.st}", "--data", T, "--out", T], ["evaluate", "--model", "{text.st}", "--data", T, "--out", "{text.st}"], ["evaluate", "--model", "{text.st}", "--data", T, "--out", "{out}/x.txt"], ["evaluate", "--model", "{text.st}", "--data", T, "--confusions", T],
    ["compare", "--data", T, "--shots", "99"], ["compare", "--data", T, "--shots", "1,1"], ["compare", "--data", T, "--methods", "names,names"], ["compare", "--data", T, "--methods", ""], ["compare", "--data", T, "--test", T], ["compare", "--data", T, "--report", T],
    ["tune", "--data", T, "--folds", "100"], ["tune", "--data", T, "--nested", "99", "--trials", "1"], ["cv", "--data", T, "--folds", "100"], ["cv", "--data", T, "--out", T, "--folds", "2"], ["tree", "build"], ["tree", "build", "--data", T, "--out", T], ["tree", "build", "--data", T, "--kind", "x"],
    ["tree", "show"], ["tree", "show", "{tree.json}", "{tree.json}"], ["tree", "show", "{texts.csv}"], ["tree", "check", "{tree.json}", "--data", N], ["vectors", "get", "--vectors", "{vectors.vec}"], ["vectors", "get", "--vectors", "{vectors.vec}", "zebra"], ["vectors"], ["tree"], ["tweets"],
    ["tweets", "prepare", "--data", "{tweets.jsonl}"], ["tweets", "prepare", "--data", "{tweets.jsonl}", "--out", "{mine}"], ["embed", "--model", "{text.st}", "--data", T, "--out", "{out}/e.npy"], ["experiment"], ["experiment", "x"], ["experiment", "all", "norms"], ["x"], ["--x"], ["train", "--modle", "x"],
    ["train", "--data", "{tags.jsonl}", "--multilabel", "--first-label", "--model", "{out}/m.st"], ["train", "--data", "{tags.jsonl}", "--sharing", "names", "--model", "{out}/m.st"], ["train", "--data", "{tags.csv}", "--multilabel", "--model", "{out}/m.st"], ["train", "--data", "{tags.jsonl}", "--thresholds", "x", "--model", "{out}/m.st"],
    ["train", "--data", "{tags.csv}", "--label-separator", "\n", "--model", "{out}/m.st"], ["train", "--data", "{tags.ft}", "--label-separator", ";", "--model", "{out}/m.st"], ["train", "--data", "{x.npy}", "--labels", "{y.npy}", "--multilabel", "--model", "{out}/m.st"], ["train", "--data", "{tags.jsonl}", "--network", "resnet20", "--multilabel", "--model", "{out}/m.st"],
    ["compare", "--data", "{tags.jsonl}"], ["tune", "--data", "{tags.jsonl}", "--trials", "1"], ["cv", "--data", "{tags.ft}"], ["doctor", "--data", "{xmc.txt}"], ["explain", "--model", "{tags.st}", "{questions.txt}"], ["predict", "--model", "{tags.st}", "--reject", "0.5", "{questions.txt}"], ["predict", "--model", "{tags.st}", "--target-accuracy", "0.5", "{questions.txt}"],
    ["predict", "--model", "{text.st}", "--threshold", "0.5", "{questions.txt}"], ["evaluate", "--model", "{tags.st}", "--data", T], ["evaluate", "--model", "{text.st}", "--data", "{tags.jsonl}"], ["evaluate", "--model", "{tags.st}", "--data", "{tags.jsonl}", "--report", "{out}/r"], ["train", "--data", T, "--init-model", "{tags.st}", "--model", "{out}/m.st"], ["train", "--data", T, "--weights-model", "{tags.st}", "--model", "{out}/m.st"],
    ["tree", "build", "--data", "{tags.jsonl}"], ["tree", "show", "{tags.st}"], ["export", "--model", "{tags.st}", "--out", "{out}/x", "--data", "{tags.jsonl}"],
    ["help", "x"], ["completion", "x"], ["quickstart", "x"], ["bench", "x"], ["quickstart", "--report", T], ["quickstart", "--model", "{out}"], ["train", "it", "purrs", "a lot"], ["predict", "--model", "{text.st}", "it purrs on the sofa"],
]
# Places that are no files to read, and none to write.
READ = ["/dev/zero", "/dev/null", "/dev/full", "/dev/urandom", "{folder}", "{loop}", "{dangling}", "{missing}", "{texts.csv}/x", "/proc/self/mem", "{fifo}", "-", "", " ", "{long}"]
WRITE = ["/dev/full", "/dev/null", "{folder}", "{loop}", "{dangling}", "{missing}/x", "{texts.csv}/x", "{protected}", "{fifo}", "", "-", "{long}", "/proc/x", "{full}/m.st", "{notes}"]
OUTPUTS = {
    "train --model": ["train", "--data", T, "--model", "{X}"], "quickstart --model": ["quickstart", "--model", "{X}"], "compare --report": ["compare", "--data", T, "--methods", "cross-entropy", "--report", "{X}"], "evaluate --out": ["evaluate", "--model", "{text.st}", "--data", T, "--out", "{X}"],
    "evaluate --confusions": ["evaluate", "--model", "{text.st}", "--data", T, "--confusions", "{X}"], "cv --out": ["cv", "--data", T, "--folds", "2", "--sharing", "none", "--loss", "cross-entropy", "--out", "{X}"], "tree build --out": ["tree", "build", "--data", T, "--out", "{X}"],
    "tweets --out": ["tweets", "prepare", "--data", "{tweets.jsonl}", "--out", "{X}"], "experiment --out": ["experiment", "norms", "--runs", "1", "--n", "20", "--d", "4", "--k", "4", "--threads", "1", "--out", "{X}"],
}
STDIN = {
    "empty": b"", "one blank line": b"\n", "no line end": b"it purrs", "NUL": b"it\x00purrs\n", "broken": b"it \xff purrs\nlast\n", "question": b"question\nit purrs\n", "object": b'{"text":"x"}\nit purrs\n', "sparse": b"1 1:2\nit purrs\n", "zip": b"PK\x03\x04\n", "PDF": b"%PDF-\n",
    "PARE": b"PARENTS\n", "mark": b"\xef\xbb\xbfit purrs\n", "long line": b"word " * 2000000, "carriage returns": b"a\rb\rc\r", "blank lines": b"\n" * 5000, "array": b"[1]\nx\n", "open quote": b'"it purrs\nlast\n',
}


def flag_cases(program):
    out = []
    for name, call in CALLS.items():
        command = name.split(" ")[:1] if call is None else call[:2] if call[0] in ("tree", "vectors", "tweets") else call[:1]
        text = subprocess.run([program, *command, "--help-all"], capture_output=True, text=True).stdout
        for flag, kind in re.findall(r"^ +(?:-., )?--([a-z-]+) (\w+)", text, re.M):
            kind = kind if kind in VALUES else None
            if flag in ("model", "report", "out", "backend") or kind is None or name == "train sgd" and flag not in ("epochs", "batch", "rate", "momentum", "weight-decay", "patience"):
                continue
            if kind == "stringArray" and flag == "data" or call is None and flag != "threads":
                continue
            for value in VALUES[kind]:
                base = call or command + ["--threads"][:0]
                if call is None and value in ("0", ""):
                    continue # runs for long, rightly
                out.append(Case("flags", f"{name} --{flag} {value[:20]!r}", base + [f"--{flag}={value}"]))
    return out


def tensors(rows, columns, value=0.5, name="embeddings", **more):
    """A file of float32 embeddings; more changes the header."""
    data = struct.pack("<f", value) * (rows * columns)
    header = {name: {"dtype": "F32", "shape": [rows, columns], "data_offsets": [0, len(data)], **more}}
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def tokenizer(**change):
    out = {"version": "1.0", "normalizer": {"type": "BertNormalizer", "lowercase": True}, "pre_tokenizer": {"type": "BertPreTokenizer"},
           "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100, "vocab": {w: i for i, w in enumerate(WORDS)}}}
    return json.dumps({**out, **change})


WORDS = ["[UNK]", "cat", "purrs", "dog", "bark", "##s", "bird", "sings", "night"]
GOOD.update({"enc/model.safetensors": tensors(len(WORDS), 4), "enc/tokenizer.json": tokenizer(), "enc/config.json": '{"normalize": true}',
             "enc/modules.json": '[{"idx": 0, "name": "0", "path": ".", "type": "sentence_transformers.models.StaticEmbedding"}]'})
# What is wrong with one file of a sentence encoder; all must be refused.
ENCODERS = {
    "model.safetensors": {"a row less": tensors(len(WORDS) - 1, 4), "no columns": tensors(len(WORDS), 0), "NaN": tensors(len(WORDS), 4, math.nan), "infinite": tensors(len(WORDS), 4, math.inf),
                          "a header that lies": tensors(len(WORDS), 4, shape=[1 << 40, 1 << 40]), "negative": tensors(len(WORDS), 4, shape=[-1, 4]), "three dimensions": tensors(len(WORDS), 4, shape=[len(WORDS), 2, 2]),
                          "another name": tensors(len(WORDS), 4, name="bert.embeddings.word_embeddings.weight"), "booleans": tensors(len(WORDS), 1, dtype="BOOL", shape=[len(WORDS), 4])},
    "tokenizer.json": {"unknown normalizer": tokenizer(normalizer={"type": "Nmt"}), "unknown field": tokenizer(normalizer={"type": "Lowercase", "fold": 1}), "unknown pre-tokenizer": tokenizer(pre_tokenizer={"type": "UnicodeScripts"}),
                       "unknown model": tokenizer(model={"type": "CharLM"}), "no model": tokenizer(model=None), "a list": "[]", "a model that is a list": tokenizer(model=[]),
                       "look-ahead": tokenizer(pre_tokenizer={"type": "Split", "pattern": {"Regex": "\\s+(?!\\S)"}, "behavior": "Isolated", "invert": False}), "number beyond": tokenizer(model={"type": "WordLevel", "vocab": {"a": 1 << 30}, "unk_token": ""}),
                       "a text for a number": tokenizer(model={"type": "WordLevel", "vocab": {"a": "b"}, "unk_token": ""}), "charsmap": tokenizer(normalizer={"type": "Precompiled", "precompiled_charsmap": "/////w=="}),
                       "deep": tokenizer(normalizer=None).replace("null", '{"type":"Sequence","normalizers":[' * 5000 + "]}" * 5000)},
    "config.json": {"a list": "[]", "a text": '{"normalize": "yes"}'},
    "modules.json": {"an object": "{}", "none": "[]", "transformer": '[{"path": "", "type": "sentence_transformers.models.Transformer"}]', "dense": '[{"path": "", "type": "x.StaticEmbedding"}, {"path": "2", "type": "x.Dense"}]',
                     "elsewhere": '[{"path": "../..", "type": "x.StaticEmbedding"}]'},
}


def cases(program):
    out = []
    for place, (base, args) in PLACES.items():
        for damage in ANY:
            if damage.startswith("bomb") and not place in ("train --data", "train jsonl", "train libsvm", "train --taxonomy", "vectors info", "tweets prepare", "evaluate --data"):
                continue
            if base.endswith(".st") and damage in ("UTF-16", "UTF-32", "UTF-16, no mark"):
                continue
            out.append(Case("damaged", f"{place}: {damage}", args, files={"X": (base, damage)}))
        for path in READ:
            if path == "-" and place.startswith("predict") or path == "/dev/urandom" and place == "predict --format lines": # endless, rightly
                continue
            out.append(Case("paths", f"{place}: {path}", [path if a == "{X}" else a for a in args], feed="{fifo}" if path == "{fifo}" else None, stdin=b"" if path == "-" else None))
    for name, text in {**{k + ".csv": v for k, v in TABLES.items()}, **RECORDS}.items():
        for command in ("train", "compare", "doctor", "evaluate", "predict"):
            if command != "train" and name not in ("NaN.csv", "one class.csv", "each row its class.csv", "empty texts.csv", "two rows.csv", "1e308.csv", "label with NUL.csv", "100,000 columns.csv", "1e38.csv", "constant.csv", "index 2147483646.svm", "label and labels.jsonl", "100,000 soft labels.jsonl", "labels are numbers.csv", "label of 1 MB.csv"):
                continue
            if name.startswith("3,000"):
                continue # measured by itself
            model = "number.st" if name.startswith(("1e", "NaN", "Inf", "constant", "100,000 c", "labels are n")) else "text.st"
            args = {"train": ["train", "--data", "{X}", "--model", "{out}/m.st"], "compare": ["compare", "--data", "{X}", "--methods", "cross-entropy,v-tree"], "doctor": ["doctor", "--data", "{X}"], "evaluate": ["evaluate", "--model", "{" + model + "}", "--data", "{X}"], "predict": ["predict", "--model", "{" + model + "}", "{X}"]}[command]
            out.append(Case("examples", f"{command}: {name}", args, files={"X": (name, text)}))
    for name, data in ARRAYS.items():
        out.append(Case("examples", f"train npy: {name}", ["train", "--data", "{X}", "--labels", "{y.npy}", "--model", "{out}/m.st"], files={"X": (name + ".npy", data)}))
        out.append(Case("examples", f"predict npy: {name}", ["predict", "--model", "{array.st}", "{X}"], files={"X": (name + ".npy", data)}))
    for model, q, d in (("text.st", "questions.txt", "texts.csv"), ("number.st", "numbers.csv", "numbers.csv"), ("sparse.st", "sparse.svm", "sparse.svm"), ("tree.st", "questions.txt", "texts.csv"), ("hier.st", "questions.txt", "texts.csv"), ("tags.st", "questions.txt", "tags.jsonl")):
        for command, args in APPLY.items():
            full = [a.replace("{Q}", "{" + q + "}").replace("{D}", "{" + d + "}") for a in args]
            for damage in ({**ROTTEN, **FORGED} if command == "predict" else FORGED if command == "explain" else dict(list(ROTTEN.items())[3:9] + list(FORGED.items())[:3])):
                want = "refused" if damage in ROTTEN or damage in ("an empty class name", "idf below 0", "idf NaN", "weights of 3e38", "weights NaN", "no metadata", "format version 99") else None
                out.append(Case("models", f"{command} {model}: {damage}", full, files={"X": (model, damage)}, want=want))
    for place, args in OUTPUTS.items():
        for path in WRITE:
            out.append(Case("outputs", f"{place} {path}", [path if a == "{X}" else a for a in args]))
    for name, data in STDIN.items():
        for form in ([], ["--format", "lines"], ["--json", "--top", "3"], ["--skip-bad"]):
            out.append(Case("stdin", f"predict {' '.join(form)}: {name}", ["predict", "--model", "{text.st}", *form], stdin=data))
        out.append(Case("stdin", f"train --data -: {name}", ["train", "--data", "-", "--model", "{out}/m.st"], stdin=data))
        out.append(Case("stdin", f"explain: {name}", ["explain", "--model", "{text.st}"], stdin=data[:50000]))
    for i, args in enumerate(CONFLICTS):
        out.append(Case("conflicts", f"{i}: {' '.join(args)}", args))
    for file in ("model.safetensors", "tokenizer.json", "config.json", "modules.json"):
        for damage in {**ANY, **ENCODERS.get(file, {})}:
            if damage.startswith("bomb"):
                continue
            for command, args in {"info": ["encoder", "info", "{F}"], "train": ["train", "--data", "{texts.csv}", "--encoder", "{F}", "--model", "{out}/m.st"]}.items():
                out.append(Case("encoders", f"{command} {file}: {damage}", args, folder="enc", files={"X": ("enc/" + file, ENCODERS.get(file, {}).get(damage, damage))},
                                want="refused" if damage in ENCODERS.get(file, {}) else None))
    for path in READ:
        out.append(Case("encoders", f"train --encoder {path}", ["train", "--data", "{texts.csv}", "--encoder", path, "--model", "{out}/m.st"], feed="{fifo}" if path == "{fifo}" else None))
    return out + flag_cases(program)


# ------------------------------------------------------------------ running

class Bench:
    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        self.good = os.path.join(folder, "good")
        os.mkdir(self.good)
        self.names = {}
        for name, data in GOOD.items():
            self.put(name, data)
        for name, args in {
            "text.st": ["--data", "texts.csv"], "number.st": ["--data", "numbers.csv"], "sparse.st": ["--data", "sparse.svm"], "array.st": ["--data", "x.npy", "--labels", "y.npy"],
            "tree.st": ["--data", "texts.csv", "--taxonomy", "taxonomy.csv", "--sharing", "taxonomy"], "hier.st": ["--data", "texts.csv", "--taxonomy", "taxonomy.csv", "--loss", "hierarchical-softmax"],
            "tags.st": ["--data", "tags.jsonl"],
        }.items():
            subprocess.run([program, "train", "-q", *args, "--model", name], cwd=self.good, check=True, stdout=subprocess.DEVNULL)
            self.names[name] = os.path.join(self.good, name)
        os.mkdir(os.path.join(self.good, "folder"))
        os.makedirs(os.path.join(self.good, "mine"))
        for name in ("train.csv", "valid.csv", "test.csv", "emojis.csv"):
            self.put("mine/" + name, "my own file\n")
        self.put("notes", "do not lose me\n")
        shutil.copy(self.names["text.st"], os.path.join(self.good, "protected"))
        os.chmod(os.path.join(self.good, "protected"), 0o444)
        os.symlink("loop", os.path.join(self.good, "loop"))
        os.symlink("nothing here", os.path.join(self.good, "dangling"))
        os.mkfifo(os.path.join(self.good, "fifo"))
        for name in ("folder", "mine", "protected", "loop", "dangling", "missing", "fifo"):
            self.names[name] = os.path.join(self.good, name)
        self.names["long"] = "x" * 5000
        self.names["full"] = self.small_disk()
        self.before = self.state()

    def put(self, name, data):
        path = os.path.join(self.good, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as f:
            f.write(data if isinstance(data, bytes) else data.encode())
        self.names[name] = path

    def small_disk(self):
        """A full disk of 64 KB, where mount is allowed; else a folder."""
        path = os.path.join(self.folder, "full")
        os.mkdir(path)
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", path], capture_output=True).returncode == 0:
            with open(os.path.join(path, "filler"), "wb") as f:
                f.write(b"x" * (60 << 10))
        return path

    def state(self):
        """Of all files of the user: what stands in them."""
        out = {}
        for root, _, files in os.walk(self.good):
            for name in files:
                path = os.path.join(root, name)
                mode = os.lstat(path)
                key = os.path.relpath(path, self.good)
                out[key] = os.readlink(path) if stat.S_ISLNK(mode.st_mode) else open(path, "rb").read() if stat.S_ISREG(mode.st_mode) else oct(mode.st_mode)
        return out

    def damaged(self, base, damage, target):
        """Writes a damaged copy of a good file, or a text of the case; None if there is none."""
        if isinstance(damage, bytes) or damage not in ANY and damage not in ROTTEN and damage not in FORGED:
            data = damage
        else:
            change = ANY.get(damage) or ROTTEN.get(damage) or FORGED.get(damage)
            if change in ("zeros", "blanks"): # two gigabytes of it
                with gzip.open(target, "wb", 9) as f:
                    block = (b"\0" if change == "zeros" else b"\n") * (1 << 24)
                    for _ in range(128):
                        f.write(block)
                return target
            with open(self.names[base], "rb") as f:
                data = change(f.read())
        if data is None:
            return None
        with open(target, "wb") as f:
            f.write(data if isinstance(data, bytes) else data.encode())
        return target

    def run(self, case):
        """Returns (what is wrong, "" for nothing; seconds; largest memory in MB); None to leave it out."""
        work = tempfile.mkdtemp(dir=self.folder)
        out = os.path.join(work, "out")
        os.mkdir(out)
        names = dict(self.names, out=out)
        if case.folder:
            names["F"] = shutil.copytree(os.path.join(self.good, case.folder), os.path.join(work, case.folder))
        for key, (base, damage) in case.files.items():
            name = base if not damage in ANY or not damage.startswith("bomb") else base
            names[key] = self.damaged(base, damage, os.path.join(work, name if case.folder else name.replace("/", "_")))
            if names[key] is None:
                shutil.rmtree(work)
                return None
        args = [re.sub(r"\{([^{}]+)\}", lambda m: names.get(m[1], m[0]), a) for a in case.args]
        given = {k: open(v, "rb").read() for k, v in names.items() if k in case.files}
        feeder = None
        if case.feed:
            feeder = threading.Thread(target=feed, args=(names["fifo"],), daemon=True)
            feeder.start()
        began = time.time()
        child = subprocess.Popen([self.program, *args], cwd=out, stdin=subprocess.PIPE if case.stdin is not None else subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=limits, env=dict(os.environ, TERM="dumb"))
        try:
            text, log = child.communicate(case.stdin, timeout=SECONDS)
            late = False
        except subprocess.TimeoutExpired:
            child.kill()
            text, log = child.communicate()
            late = True
        took = time.time() - began
        if feeder: # a reader that lets go of who writes
            os.close(os.open(names["fifo"], os.O_RDONLY | os.O_NONBLOCK))
            feeder.join(5)
        wrong = judge(case, child.returncode, text.decode("utf-8", "replace"), log.decode("utf-8", "replace"), late)
        now = self.state()
        if now != self.before:
            changed = [k for k in set(now) | set(self.before) if now.get(k) != self.before.get(k)]
            lost = [k for k in changed if k in self.before or not k.startswith(("folder/", "missing/"))]
            if lost:
                wrong.append(f"LOST: {lost}")
            for k in changed: # put it back
                path = os.path.join(self.good, k)
                if k not in self.before:
                    os.remove(path)
                    continue
                if os.path.lexists(path):
                    os.remove(path)
                if isinstance(self.before[k], bytes):
                    with open(path, "wb") as f:
                        f.write(self.before[k])
                elif k in ("loop", "dangling"):
                    os.symlink(self.before[k], path)
                else:
                    os.mkfifo(path)
        for k, data in given.items():
            if open(names[k], "rb").read() != data:
                wrong.append("LOST: the file it was given")
        left = [f for root, _, files in os.walk(work) for f in files if f.startswith(".treeloss")] + [f for root, _, files in os.walk(self.good) for f in files if f.startswith(".treeloss")]
        if left and not late:
            wrong.append(f"left behind: {left}")
        shutil.rmtree(work)
        return "; ".join(wrong), took, log.decode("utf-8", "replace")


def feed(path):
    try:
        with open(path, "wb") as f:
            f.write(texts().encode())
    except OSError:
        pass


def limits():
    resource.setrlimit(resource.RLIMIT_AS, (SPACE, SPACE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.nice(10)


def judge(case, status, text, log, late):
    wrong = []
    if late:
        return [f"TIME: more than {SECONDS} s"]
    both = text + log
    if m := TRACE.search(both):
        if "treeloss: " not in log.splitlines()[-1:][0:1].__str__() or status not in (0, 1, 2):
            wrong.append("TRACE: " + both[max(0, m.start() - 50):m.start() + 200].replace("\n", "|"))
    if status not in (0, 1, 2):
        wrong.append(f"STATUS {status}")
    errors = [line for line in log.splitlines() if line.startswith("treeloss:")]
    if status == 0 and errors:
        wrong.append("an error with status 0")
    if status in (1, 2):
        if len(errors) != 1 or not log.splitlines()[-1].startswith("treeloss: "):
            wrong.append(f"{len(errors)} error lines: {log[-300:]!r}")
        elif len(errors[0]) > 1500:
            wrong.append(f"a line of {len(errors[0])} characters: {errors[0][:200]!r}")
        elif m := JARGON.search(errors[0]):
            wrong.append(f"JARGON {m[0]!r}: {errors[0][:400]}")
        elif any(ord(c) < 32 and c != "\t" for c in errors[0]):
            wrong.append(f"control characters in the line: {errors[0][:200]!r}")
    if status == 0 and case.args[0] in ("predict", "evaluate", "explain", "compare") and (m := NO_NUMBER.search(text)):
        wrong.append(f"NO NUMBER: {text[max(0, m.start() - 60):m.end() + 20]!r}")
    if status == 0 and "--json" in case.args and case.args[0] != "predict":
        try:
            json.loads(text)
        except ValueError:
            wrong.append("results are no JSON")
    if case.want == "refused" and status == 0:
        wrong.append("WRONGLY ACCEPTED")
    if case.want == "ok" and status != 0:
        wrong.append(f"WRONGLY REFUSED: {errors}")
    return wrong


def main():
    args = [a for a in sys.argv[1:] if not a.startswith("--")]
    program, parts = os.path.abspath(args[0]), args[1:]
    every = cases(program)
    if parts:
        every = [c for c in every if any((c.part + " " + c.name).startswith(p) for p in parts)]
    if "--list" in sys.argv:
        for c in every:
            print(c.part, "|", c.name, "|", " ".join(a[:80] for a in c.args))
        print(len(every), "cases")
        return
    folder = tempfile.mkdtemp(prefix="hostile-")
    bench = Bench(program, folder)
    counts, failed, slow = {}, 0, []
    try:
        for c in every:
            result = bench.run(c)
            if result is None:
                continue
            wrong, took, log = result
            n = counts.setdefault(c.part, [0, 0])
            n[0] += 1
            slow.append((took, c.part, c.name))
            if "--verbose" in sys.argv:
                print(f"{c.part} | {c.name} | {took:.1f} s | {log.strip().splitlines()[-1][:300] if log.strip() else ''}", flush=True)
            if wrong:
                n[1] += 1
                failed += 1
                print(f"FAIL {c.part} | {c.name} | {wrong}", flush=True)
    finally:
        subprocess.run(["umount", os.path.join(folder, "full")], capture_output=True)
        if "--keep" not in sys.argv:
            shutil.rmtree(folder, ignore_errors=True)
    for part, (n, bad) in counts.items():
        print(f"{part}: {n} cases, {bad} failed")
    print(f"{sum(n for n, _ in counts.values())} cases, {failed} failed")
    for took, part, name in sorted(slow, reverse=True)[:5]:
        print(f"  {took:.1f} s {part} | {name}")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
