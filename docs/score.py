"""Applies a linear model of treeloss, with Python's standard library alone.

    python3 score.py MODEL < questions.txt       one text a line
    python3 score.py MODEL < measurements.csv    a model of numeric columns

prints the most probable class of each and its probability, as treeloss predict does.
"""
import array, collections, csv, json, math, mmap, struct, sys, unicodedata

# Scripts without spaces between words: those with n-grams of 1 to 2 characters, then 1 to 3.
HAN_KANA = [(0x2E80, 0x2FD5), (0x3005, 0x3005), (0x3007, 0x3007), (0x3021, 0x3029),
            (0x3038, 0x303B), (0x3041, 0x3096), (0x309D, 0x309F), (0x30A1, 0x30FA),
            (0x30FD, 0x30FF), (0x31F0, 0x31FF), (0x32D0, 0x32FE), (0x3300, 0x3357),
            (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAD9), (0xFF66, 0xFF6F),
            (0xFF71, 0xFF9D), (0x16FE2, 0x16FE3), (0x16FF0, 0x16FF1), (0x1AFF0, 0x1B167),
            (0x1F200, 0x1F200), (0x20000, 0x323AF)]
OTHERS = [(0x0E01, 0x0E3A), (0x0E40, 0x0E5B), (0x0E81, 0x0EDF), (0x1000, 0x109F),  # Thai,
          (0x1780, 0x17F9), (0x19E0, 0x19FF), (0xA9E0, 0xA9FE), (0xAA60, 0xAA7F)]  # ... Myanmar


def among(c, ranges):
    return any(a <= ord(c) <= b for a, b in ranges)


def is_mark(c):
    return unicodedata.category(c)[0] == "M"


def is_punct(c):
    return unicodedata.category(c)[0] == "P"


def is_space(c):
    return c in " \t\n\v\f\r" if c < "\x80" else c.isspace()


def spaceless(c):
    return c == "ー" or c >= "\u0e00" and not is_mark(c) and (among(c, HAN_KANA) or among(c, OTHERS))


def in_word(c):
    if c < "\x80":
        return c.isalnum() or c == "_"
    return not (is_punct(c) or c.isspace() or unicodedata.category(c) == "Cc")


def chunks(text):
    """Cuts at white space and around runs of scripts without spaces; punctuation
    behind such a run belongs to no chunk."""
    at = 0
    while at < len(text):
        if is_space(text[at]):
            at += 1
            continue
        end, run = at + 1, spaceless(text[at])
        while end < len(text) and not is_space(text[end]) and (is_mark(text[end]) or spaceless(text[end]) == run):
            end += 1
        yield text[at:end], run
        while run and end < len(text) and is_punct(text[end]):
            end += 1
        at = end


def ngrams(text):
    """Yields the n-grams of a text: "c" and some characters, or "w" and one or two words."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    text = "".join(c.lower()[0] for c in text)
    before = None  # the word before
    for chunk, run in chunks(text):
        if run:
            characters = []  # each with its marks
            for c in chunk:
                if characters and is_mark(c):
                    characters[-1] += c
                else:
                    characters.append(c)
            for i, c in enumerate(characters):
                for n in range(1, 3 if among(c[0], HAN_KANA) and c[0] != "ー" else 4):
                    if i + n <= len(characters):
                        yield "c" + "".join(characters[i:i + n])
                        yield "w" + "".join(characters[i:i + n])
            before = None
            continue
        padded = " " + chunk + " "
        for i in range(len(padded)):
            for n in range(2, 5):
                if i + n <= len(padded):
                    yield "c" + padded[i:i + n]
        for word in "".join(c if in_word(c) else " " for c in chunk).split(" "):
            if not word or len(word) == 1 and unicodedata.category(word)[0:2] in ("Lu", "Ll", "Lt", "Lm", "Lo", "Nd"):
                continue
            if len(word.encode()) > 256:
                before = None
                continue
            yield "w" + word
            if before is not None:
                yield "w" + before + " " + word
            before = word


class Model:
    def __init__(self, path):
        with open(path, "rb") as f:
            self.file = mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ)
        size, = struct.unpack("<Q", self.file[:8])
        self.header = json.loads(self.file[8:8 + size])
        self.begin = 8 + size
        meta = self.header.pop("__metadata__")
        if meta["format"] != "treeloss-model" or meta["format_version"] != "2":
            raise ValueError("not a linear model of treeloss")
        self.labels = json.loads(meta["labels"])
        self.features = json.loads(meta["features"])
        if self.features.get("fields"):
            raise ValueError("a model of several columns, which this program does not apply")
        if self.features.get("encoder"):
            raise ValueError("a model with a sentence encoder, which this program does not apply")
        self.calibration = json.loads(meta["training"]).get("calibration")
        self.bias = self.tensor("bias")
        self.threshold = None  # of each class, where an example may have several labels
        if meta["output"] == "sigmoid":
            self.threshold = self.tensor("threshold")
        self.nodes = None  # of a hierarchical softmax
        if meta["output"] == "hierarchical-softmax":
            self.nodes = json.loads(meta["tree"])["nodes"]
        if "weight" in self.header:
            self.weight = self.tensor("weight")
        elif "weight_base" in self.header:
            self.base, self.start = self.tensor("weight_base"), self.tensor("weight_start")
        if self.features["kind"] == "text":
            grams = bytes(self.tensor("vocabulary")).decode().split("\n")[:-1]
            self.number = {gram: f for f, gram in enumerate(grams)}
            self.idf = self.tensor("idf")
            self.words = sum(gram[0] == "c" for gram in grams)  # where they begin: n-grams ascend
        elif self.features["kind"] == "numbers":
            self.mean, self.scale = self.tensor("mean"), self.tensor("scale")
            if self.features.get("fourier"):
                self.direction, self.phase = self.tensor("fourier_direction"), self.tensor("fourier_phase")

    def tensor(self, name, first=0, count=None):
        """The numbers of a tensor, or count of them from the one numbered first."""
        t = self.header[name]
        code, size = {"U8": ("B", 1), "U16": ("H", 2), "I32": ("i", 4), "I64": ("q", 8),
                      "F16": ("e", 2), "F32": ("f", 4), "F64": ("d", 8)}[t["dtype"]]
        begin, end = (self.begin + offset for offset in t["data_offsets"])
        if count is None:
            count = (end - begin) // size
        data = self.file[begin + first * size:begin + (first + count) * size]
        if code == "e":
            return struct.unpack(f"<{count}e", data)
        numbers = array.array(code, data)
        if sys.byteorder == "big":
            numbers.byteswap()
        return numbers

    def row(self, x):
        """The features of a text, of a dict of columns, or of a dict of the feature
        numbers of LIBSVM, from 1: a dict of the numbers of weights, from 0."""
        if self.features["kind"] == "sparse":
            return {f - 1: v for f, v in x.items() if 0 < f <= self.features["dim"]}
        if self.features["kind"] == "numbers":
            z = [min(max((float(x[c]) - m) * s, -1e6), 1e6) for c, m, s in zip(self.features["columns"], self.mean, self.scale)]
            p, d = len(z), self.features.get("fourier", 0)
            more = [math.sqrt(2 * p / d) * math.cos(math.fsum(a * b for a, b in zip(self.direction[i * p:(i + 1) * p], z)) + self.phase[i])
                    for i in range(d)]
            return dict(enumerate(z + more))
        count = collections.Counter(self.number[g] for g in ngrams(x) if g in self.number)
        value = {f: (1 + math.log(n)) * self.idf[f] for f, n in count.items()}
        for block in ([f for f in value if f < self.words], [f for f in value if f >= self.words]):
            length = math.sqrt(math.fsum(value[f] ** 2 for f in block)) or 1
            for f in block:
                value[f] /= length
        return value

    def scores(self, x):
        out, k, d = list(self.bias), len(self.bias), self.features["dim"]
        for f, v in self.row(x).items():
            if "weight" in self.header:  # outputs x features
                for c in range(k):
                    out[c] += self.weight[c * d + f] * v
            elif "weight_byte" in self.header:  # features x outputs
                step = self.tensor("weight_scale", f, 1)[0]
                for c, w in enumerate(self.tensor("weight_byte", f * k, k)):
                    out[c] += step * (w - 128) * v
            elif "weight_half" in self.header:  # features x outputs
                for c, w in enumerate(self.tensor("weight_half", f * k, k)):
                    out[c] += w * v
            else:
                first, count = self.start[f], self.start[f + 1] - self.start[f]
                for c in range(k):
                    out[c] += self.base[f] * v
                for c, w in zip(self.tensor("weight_class", first, count), self.tensor("weight_value", first, count)):
                    out[c] += w * v
        if self.nodes is None:
            return out
        return self.leaves(out)

    def leaves(self, scores):
        """The logarithms of the class probabilities of a hierarchical softmax, whose
        scores are those of all nodes but the root."""
        children = collections.defaultdict(list)
        for v, node in enumerate(self.nodes):
            children[node["parent"]].append(v)
        log_p, out = [0.0] * len(self.nodes), [0.0] * len(self.labels)
        for v, node in enumerate(self.nodes):  # parents come first
            if node["parent"] >= 0:
                siblings = [scores[s - 1] for s in children[node["parent"]]]
                top = max(siblings)
                log_p[v] = log_p[node["parent"]] + scores[v - 1] - top - math.log(math.fsum(math.exp(s - top) for s in siblings))
            if "class" in node:
                out[node["class"]] = log_p[v]
        return out

    def probabilities(self, x):
        scores, c = self.scores(x), self.calibration
        if self.threshold is not None:  # each class by itself
            return [1 / (1 + math.exp(-s)) if s > 0 else 1 - 1 / (1 + math.exp(s)) for s in scores]
        if c is None:
            return softmax(scores, 1)
        p = softmax(scores, c["temperature"])
        if not c.get("confidence_scale"):
            return p
        top = min(max(max(p), 1e-6), 1 - 1e-6)
        sure = c["confidence_scale"] * (-math.log1p(-top)) ** c.get("confidence_power", 0)
        return softmax(scores, c["temperature"] / sure)


def softmax(scores, temperature):
    top = max(scores)
    e = [math.exp((s - top) / temperature) for s in scores]
    total = math.fsum(e)
    return [v / total for v in e]


def examples(model, lines):
    """What the lines of a file are to the model: texts, rows of a CSV file, or of LIBSVM."""
    if model.features["kind"] == "numbers":
        return csv.DictReader(lines)
    if model.features["kind"] == "sparse":  # a label, then number:value
        return ({int(f): float(v) for f, v in (pair.split(":") for pair in line.split()[1:])} for line in lines)
    return (line.rstrip("\r\n") for line in lines)


if __name__ == "__main__":
    model = Model(sys.argv[1])
    for x in examples(model, open(0, encoding="utf-8", newline="\n")):
        p = model.probabilities(x)
        if model.threshold is not None:  # none, one or several labels
            order = sorted((-v, c) for c, v in enumerate(p) if v >= model.threshold[c])
            print("\t".join(f"{model.labels[c]}\t{-v:.6g}" for v, c in order))
            continue
        best = p.index(max(p))
        print(f"{model.labels[best]}\t{p[best]:.6g}")
