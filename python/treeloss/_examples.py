"""Examples as scikit-learn's users have them, in the form that the program reads."""

import array
import json
import math
import struct

try:
    import numpy
except ImportError:
    numpy = None

quoted = json.encoder.encode_basestring_ascii  # a JSON string, without the cost of json.dumps

TEXT, NUMBERS, SPARSE = "text", "numbers", "sparse"  # as the model file calls them


class Examples:
    """Texts (a list), numbers (a two-dimensional float64 array, or a list of lists of floats
    where there is no NumPy), or sparse numbers (a CSR matrix of SciPy)."""

    def __init__(self, kind, rows, columns=0, names=None):
        self.kind = kind
        self.rows = rows
        self.columns = columns  # of numbers
        self.names = names  # of the columns of a data frame

    def __len__(self):
        return self.rows.shape[0] if self.kind == SPARSE else len(self.rows)

    def at(self, places):
        """The examples at some places."""
        rows = [self.rows[i] for i in places] if isinstance(self.rows, list) else self.rows[places]
        return Examples(self.kind, rows, self.columns, self.names)

    def as_kind(self, kind):
        """Numbers as sparse ones or the other way; other kinds as they are."""
        if self.kind == SPARSE and kind == NUMBERS:
            return Examples(NUMBERS, self.rows.toarray(), self.columns)
        if self.kind == NUMBERS and kind == SPARSE:
            from scipy.sparse import csr_matrix

            return Examples(SPARSE, csr_matrix(self.rows), self.columns)
        return self


def read(x):
    """Makes Examples of a list, a Series, an array or a data frame. ValueError says what
    is wrong with it; TypeError that it is of a kind that cannot be read."""
    if hasattr(x, "tocsr"):
        return _sparse(x.tocsr(copy=True))
    if x is None or isinstance(x, (str, bytes, dict)):
        raise ValueError("X is %s; give a list of texts, or rows of numbers" % _what(x))
    names = None
    if hasattr(x, "columns") and hasattr(x, "dtypes"):  # a data frame
        names = _names(x.columns)
    elif isinstance(x, (list, tuple)):
        if len(x) == 0 or isinstance(x[0], str):
            return Examples(TEXT, _texts(x))
        if numpy is None:
            return _lists(x)
    if numpy is None:
        return read(x.tolist() if hasattr(x, "tolist") else list(x))
    a = numpy.asarray(x)
    words = a.dtype.kind in "OUST" and a.size > 0 and isinstance(a.flat[0], str)
    if a.ndim == 1 and a.size == 0:
        return Examples(TEXT, [])
    if words and (a.ndim == 1 or a.ndim == 2 and a.shape[1] == 1):
        return Examples(TEXT, _texts(a.ravel().tolist()))
    if words and a.ndim == 2 and any(isinstance(v, str) and not _is_number(v) for v in a[0]):
        raise ValueError(
            "X has %d columns, some of texts; give one column of texts, or columns of numbers" % a.shape[1]
        )
    return _numbers(a, names)


def _what(x):
    return "None" if x is None else "one %s" % type(x).__name__


def _is_number(text):
    try:
        float(text)
    except ValueError:
        return False
    return True


def _names(columns):
    """The names of columns, as scikit-learn keeps them: only where all are strings."""
    names = list(columns)
    return names if names and all(isinstance(n, str) for n in names) else None


def _texts(rows):
    rows = rows if isinstance(rows, list) else list(rows)
    for i, text in enumerate(rows):
        if not isinstance(text, str):
            kind = type(text).__name__
            raise ValueError("X[%d] is %.80r (%s), want a text; fill it in or leave it out" % (i, text, kind))
    return rows


def _numbers(a, names):
    if a.dtype.kind == "c":
        raise ValueError("Complex data not supported")
    if a.ndim != 2:
        raise ValueError(
            "X has %d dimension(s), want rows and columns. Reshape your data: X.reshape(-1, 1) if it is one"
            " column, X.reshape(1, -1) if it is one row" % a.ndim
        )
    a = a.astype(numpy.float64, copy=False)
    if a.shape[1] == 0:
        raise ValueError("Found array with 0 feature(s) (shape=%s) while a minimum of 1 is required." % (a.shape,))
    if not numpy.isfinite(a).all():
        i, j = numpy.argwhere(~numpy.isfinite(a))[0]
        raise ValueError(
            "X contains NaN or infinity: X[%d, %d] is %s; fill it in or leave the row out" % (i, j, a[i, j])
        )
    return Examples(NUMBERS, a, a.shape[1], names)


def _sparse(x):
    if x.dtype.kind == "c":
        raise ValueError("Complex data not supported")
    if x.shape[1] == 0:
        raise ValueError("Found array with 0 feature(s) (shape=%s) while a minimum of 1 is required." % (x.shape,))
    x = x.astype(numpy.float64)
    x.sum_duplicates()  # which sorts the columns of each row, too
    x.eliminate_zeros()
    if not numpy.isfinite(x.data).all():
        raise ValueError("X contains NaN or infinity; fill it in or leave the row out")
    return Examples(SPARSE, x, x.shape[1])


def _lists(x):
    """Rows of numbers where there is no NumPy."""
    rows = []
    for i, row in enumerate(x):
        try:
            row = [float(v) for v in row]
        except (TypeError, ValueError):
            raise ValueError("X[%d] is %.80r, want a text or a list of numbers. Reshape your data" % (i, row)) from None
        if len(row) == 0 or len(row) != len(rows[0] if rows else row):
            raise ValueError("X[%d] has %d feature(s), want as many in each row, and a minimum of 1" % (i, len(row)))
        if not all(map(math.isfinite, row)):
            raise ValueError("X contains NaN or infinity in X[%d]; fill it in or leave the row out" % i)
        rows.append(row)
    return Examples(NUMBERS, rows, len(rows[0]) if rows else 0)


def lines(x):
    """The examples as lines without labels: JSON, or of LIBSVM where they are sparse."""
    if x.kind == TEXT:
        text = "".join(['{"text":%s}\n' % quoted(t) for t in x.rows])
    elif x.kind == SPARSE:
        text = "".join(["0%s\n" % row for row in _pairs(x.rows)])  # a label, as a line may not be blank
    else:
        text = "".join(['{"x":%s}\n' % json.dumps(row) for row in _as_lists(x.rows)])
    return text.encode("ascii")


def _pairs(rows):
    """Yields each row of a CSR matrix as LIBSVM has it, counting from 1."""
    columns, values, start = (rows.indices + 1).tolist(), rows.data.tolist(), rows.indptr.tolist()
    for a, b in zip(start, start[1:]):
        yield "".join([" %d:%r" % pair for pair in zip(columns[a:b], values[a:b])])


def _as_lists(rows):
    return rows if isinstance(rows, list) else rows.tolist()


def write_lines(f, x, names, numbers, weights=None):
    """Writes JSON lines to train on: names[numbers[i]] is the class of example i."""
    labels = [quoted(n) for n in names]
    rows = map(quoted, x.rows) if x.kind == TEXT else map(json.dumps, _as_lists(x.rows))
    key = "text" if x.kind == TEXT else "x"
    for i, (row, c) in enumerate(zip(rows, numbers)):
        weight = "" if weights is None else ',"weight":%r' % weights[i]
        f.write(('{"%s":%s,"label":%s%s}\n' % (key, row, labels[c], weight)).encode("ascii"))


def write_libsvm(f, x, names, numbers):
    """Writes lines of LIBSVM to train on. The names have no white space, comma, colon or #."""
    for row, c in zip(_pairs(x.rows), numbers):
        f.write(("%s%s\n" % (names[c], row)).encode("utf-8", "replace"))


def write_npy(f, x):
    """Writes numbers as a NumPy file of format 1.0, with or without NumPy."""
    header = "{'descr': '<f8', 'fortran_order': False, 'shape': (%d, %d), }" % (len(x.rows), x.columns)
    header = header.ljust(-(10 + len(header) + 1) % 64 + len(header)) + "\n"
    f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode("ascii"))
    if numpy is not None and not isinstance(x.rows, list):
        f.write(numpy.ascontiguousarray(x.rows, dtype="<f8").data)
        return
    for row in x.rows:
        f.write(struct.pack("<%dd" % len(row), *array.array("d", row)))
