"""A trained model: its file, and the processes that answer with it."""

import json
import os
import re
import shutil
import struct
import tempfile
import threading
import weakref

from . import _examples, _program

# Of more numbers than this a file is written for a process of its own: JSON costs more.
MOST_NUMBERS = 50_000


class Model:
    """A model file in a folder of its own, which goes with the object.

    It is pickled by its bytes; a copy is the same object, as nothing in it changes.
    """

    def __init__(self, folder):
        self._folder = folder
        self.path = os.path.join(folder, "model.safetensors")
        self._gone = weakref.finalize(self, _remove, folder, os.getpid())
        self._lock = threading.Lock()
        self._answers = {}
        self.labels, self.kind, self.columns, self.names, self.training = about(self.path)

    @classmethod
    def of_bytes(cls, data):
        folder = tempfile.mkdtemp(prefix="treeloss-")
        with open(os.path.join(folder, "model.safetensors"), "wb") as f:
            f.write(data)
        return cls(folder)

    def __reduce__(self):
        with open(self.path, "rb") as f:
            return Model.of_bytes, (f.read(),)

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def ask(self, x, flags, take):
        """Calls take(i, answer) with what treeloss predict --json writes of each example."""
        if len(x) == 0:
            return
        x = x.as_kind(self.kind)
        args = ["predict", "--quiet", "--json", "--model", self.path] + flags
        if x.kind == _examples.NUMBERS and len(x) * x.columns > MOST_NUMBERS:
            with tempfile.TemporaryDirectory(prefix="treeloss-") as folder:
                path = os.path.join(folder, "x.npy")
                with open(path, "wb") as f:
                    _examples.write_npy(f, x)
                for i, line in enumerate(_program.run(args + [path]).splitlines()):
                    take(i, json.loads(line))
            return
        with self._lock:
            key = tuple(flags)
            if key not in self._answers:
                self._answers[key] = _program.Answers(args + _FORMS[x.kind] + ["-"])
            answers = self._answers[key]
        answered = 0

        def count(i, answer):
            nonlocal answered
            take(i, answer)
            answered = i + 1

        try:
            answers.ask(_examples.lines(x), len(x), count)
        except _program.Failed as error:  # lines are counted since the process began
            text = re.sub(r"^standard input:\d+(:\d+)?", "X[%d]" % answered, str(error))
            raise _program.Failed(text) from None

    def close(self):
        """Ends the processes; the next question starts them again."""
        with self._lock:
            answers = list(self._answers.values())
        for a in answers:
            a.close()


# How treeloss predict is to read what _examples.lines writes.
_FORMS = {
    _examples.TEXT: ["--format", "jsonl", "--text", "text"],
    _examples.NUMBERS: ["--format", "jsonl", "--features", "x"],
    _examples.SPARSE: ["--format", "libsvm"],
}


def _remove(folder, pid):
    if os.getpid() == pid:  # not in a forked process: the file is that of the parent
        shutil.rmtree(folder, ignore_errors=True)


def about(path):
    """What a model file says of itself: the names of the classes, the kind of examples, how
    many columns of numbers these have, what the columns are called (None: nothing), and
    how it was trained. ValueError where it is no file of a model for this package."""
    header = _header(path)
    return _about(header, path) + (json.loads(header.get("training", "{}")),)


def _header(path):
    """The metadata of a safetensors file; see docs/model-file.md."""
    with open(path, "rb") as f:
        size = f.read(8)
        if len(size) == 8:
            (n,) = struct.unpack("<Q", size)
            if n <= os.fstat(f.fileno()).st_size - 8:
                try:
                    return json.loads(f.read(n)).get("__metadata__", {})
                except (ValueError, AttributeError):
                    pass
    raise ValueError("%s is no model file that treeloss train wrote" % path)


def _about(header, path):
    if "labels" in header and "features" in header:
        if header.get("output") not in (None, "flat", "hierarchical-softmax"):
            raise ValueError("%s is a model of several labels for an example; use the program with it" % path)
        features = json.loads(header["features"])
        kind = features.get("kind")
        labels = json.loads(header["labels"])
        if kind == _examples.NUMBERS:
            columns = features.get("columns") or []
            named = columns != ["x%d" % (i + 1) for i in range(len(columns))]
            return labels, kind, len(columns), columns if named else None
        if kind in _FORMS:
            return labels, kind, features.get("dim", 0), None
        raise ValueError("%s is a model of %s features; use the program with it" % (path, kind))
    if "about" in header:  # a network
        about = json.loads(header["about"])
        if about.get("length"):
            return about["classes"], _examples.TEXT, 0, None
        raise ValueError("%s is a network on pictures; use the program with it" % path)
    raise ValueError("%s is no model file that treeloss train wrote" % path)
