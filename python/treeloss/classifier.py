"""TreeLossClassifier: the program treeloss as an estimator of scikit-learn."""

import contextlib
import csv
import inspect
import json
import math
import os
import re
import shutil
import sys
import tempfile
import warnings

from . import _examples, _program
from ._examples import numpy
from ._model import Model, about

try:
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.exceptions import DataConversionWarning, NotFittedError

    _bases = (ClassifierMixin, BaseEstimator)
except ImportError:
    _bases = (object,)

    class NotFittedError(ValueError, AttributeError):
        """fit was not called."""

    class DataConversionWarning(UserWarning):
        """Data was given in another form than wanted."""


# Flags of treeloss train that say where examples come from or go to, which is done here.
_OURS = (
    "data model label labels label-prefix first-label text features format encoding weight"
    " skip-bad multilabel label-separator resume json quiet help help-all"
).split()


class TreeLossClassifier(*_bases):
    """A linear classifier of texts or numbers with many similar classes.

    X is a list, Series or array of n texts, or n rows of numbers; y the n classes, of any
    type that can be sorted. None stands for the default of treeloss train, whose flags
    the parameters are; treeloss train --help-all says more of each.

    Parameters
    ----------
    sharing : str, what classes share parameters by: "auto", "none", "names", "taxonomy",
        "v-tree" ... or a sum such as "names+taxonomy"
    loss : str, "auto", "cross-entropy", "squared-hinge", "simloss", "soft-labels", "hxe"
    prior : float, prior variance of the weights, as C of LogisticRegression: larger is less
        regularisation; by default chosen on held-out examples
    names_as_examples : "auto", "on" or "off": train on the names of the classes, too
    class_names : dict of class to name, or a list in the order of classes_, where the classes
        in y are numbers or abbreviations; by default str of each class
    taxonomy : tree over the names of the classes: a path, or a dict of child to parent
    label_vectors : vectors of the names: a path, or a dict of name to a list of numbers
    class_weight : "balanced", or a dict of class to weight
    calibrate : bool, calibrate the probabilities on held-out examples
    fourier : "auto", "on" or "off": random Fourier features of columns of numbers
    random_state : int, the seed; the same seed gives the same model (default 1)
    threads : int, processor threads; never changes a result
    memory : str, memory to use, such as "4G"
    options : dict of further flags of treeloss train, such as {"trainer": "sgd", "epochs": 5}
    verbose : bool, print the log of the training to sys.stderr

    Attributes
    ----------
    classes_ : the k classes in sorted order, an array where there is NumPy
    class_names_ : list of their names, as the program has them
    n_features_in_ : number of columns; of texts there is none
    feature_names_in_ : names of the columns, if X was a data frame of numbers
    training_ : dict, what training tried, chose and measured on held-out examples

    Errors of the program are a ValueError, in its words. Any number of threads may use a
    fitted classifier. A pickle holds the model's bytes; save writes the file that
    the program reads.
    """

    def __init__(
        self,
        sharing=None,
        loss=None,
        prior=None,
        names_as_examples=None,
        class_names=None,
        taxonomy=None,
        label_vectors=None,
        class_weight=None,
        calibrate=None,
        fourier=None,
        random_state=None,
        threads=None,
        memory=None,
        options=None,
        verbose=False,
    ):
        self.sharing = sharing
        self.loss = loss
        self.prior = prior
        self.names_as_examples = names_as_examples
        self.class_names = class_names
        self.taxonomy = taxonomy
        self.label_vectors = label_vectors
        self.class_weight = class_weight
        self.calibrate = calibrate
        self.fourier = fourier
        self.random_state = random_state
        self.threads = threads
        self.memory = memory
        self.options = options
        self.verbose = verbose

    if _bases == (object,):  # what BaseEstimator would give
        _estimator_type = "classifier"

        def get_params(self, deep=True):
            """Returns the parameters as a dict."""
            return {name: getattr(self, name) for name in _parameters()}

        def set_params(self, **params):
            """Sets parameters and returns the classifier."""
            for name, value in params.items():
                if name not in _parameters():
                    raise ValueError("Invalid parameter %r for estimator TreeLossClassifier" % name)
                setattr(self, name, value)
            return self

        def __repr__(self):
            given = ["%s=%r" % (n, v) for n, v in self.get_params().items() if v is not None and v is not False]
            return "TreeLossClassifier(%s)" % ", ".join(given)

    def _more_tags(self):  # of scikit-learn before 1.6
        return {
            "_xfail_checks": {
                "check_sample_weights_invariance": "examples of weight 0 are left out, but the check also changes"
                " the order of the others, which changes the random split and float32 sums: probabilities by 1e-5",
            }
        }

    def fit(self, X, y, sample_weight=None):
        """Trains on examples and returns the classifier. sample_weight has a number of 0 or
        more for each example; 2 counts as two examples."""
        x = _examples.read(X)
        classes, numbers = _classes(y, len(x))
        weights = _weights(sample_weight, len(x))
        if weights is not None and 0 in weights:  # left out, so that they play no part in held-out examples either
            kept = [i for i, w in enumerate(weights) if w > 0]
            x, weights = x.at(kept), [weights[i] for i in kept]
            classes, numbers = _classes([classes[numbers[i]] for i in kept], len(kept))
        names = self._names_of(classes, x.kind)
        if len(x) == 0:
            raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
        if len(classes) < 2:
            raise ValueError("y has one class, %r; give examples of at least two classes" % (classes[0],))

        folder = tempfile.mkdtemp(prefix="treeloss-")
        try:
            with tempfile.TemporaryDirectory(prefix="treeloss-") as data:
                flags = self._flags(data, classes, names) + _data(data, x, names, numbers, weights)
                flags += ["--model", os.path.join(folder, "model.safetensors"), "--json"]
                with _in_words(data):
                    done = json.loads(_program.run(["train"] + flags, _print if self.verbose else None))
            model = Model(folder)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        if sorted(model.labels) != sorted(names):
            missing = sorted(set(names) - set(model.labels))
            raise ValueError("the model has no class %r; give it another name with class_names" % missing[0])
        self._take(model, classes, names, x.columns, done["training"])
        self._feature_names(x.names)
        return self

    def _take(self, model, classes, names, columns, training):
        self.classes_ = classes
        self.class_names_ = names
        self.training_ = training
        self._model = model
        self._order = [model.labels.index(n) for n in names]  # of classes_ in the model
        self._number = {n: i for i, n in enumerate(names)}
        if model.kind != _examples.TEXT:
            self.n_features_in_ = columns
        elif hasattr(self, "n_features_in_"):
            del self.n_features_in_

    def _feature_names(self, names):
        if names is not None and numpy is not None:
            self.feature_names_in_ = numpy.asarray(names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def predict(self, X):
        """Returns the most probable class of each example: an array where there is NumPy,
        else a list."""
        x = self._read(X)
        chosen = [0] * len(x)

        def take(i, answer):
            chosen[i] = self._number[answer["label"]]

        self._model.ask(x, self._predict_flags(), take)
        if numpy is None:
            return [self.classes_[c] for c in chosen]
        return self.classes_[numpy.asarray(chosen, dtype=int)]

    def predict_proba(self, X):
        """Returns the probabilities, n x k in the order of classes_. Those of an example
        sum to 1 in float64; the program's are float32."""
        x = self._read(X)
        k = len(self._order)
        p = numpy.empty((len(x), k)) if numpy is not None else [None] * len(x)

        def take(i, answer):
            p[i] = answer["probabilities"]

        self._model.ask(x, ["--probabilities"] + self._predict_flags(), take)
        if numpy is None:
            rows = [[row[c] for c in self._order] for row in p]
            return [[v / sum(row) for v in row] for row in rows]
        p = p[:, self._order]
        return p / p.sum(axis=1, keepdims=True)

    def predict_log_proba(self, X):
        """Returns the natural logarithms of predict_proba."""
        p = self.predict_proba(X)
        if numpy is None:
            return [[math.log(v) if v > 0 else -math.inf for v in row] for row in p]
        with numpy.errstate(divide="ignore"):
            return numpy.log(p)

    def answers(self, X, top=1, confidence=None, reject=None, decode=None):
        """Returns a dict for each example: what treeloss predict --json writes with these
        flags, such as {"label": "card_arrival", "probability": 0.93}. Labels are names of
        classes, or with confidence of nodes of the tree."""
        x = self._read(X)
        found = [None] * len(x)
        flags = ["--top", str(top)]
        for name, value in (("confidence", confidence), ("reject", reject), ("decode", decode)):
            if value is not None:
                flags.append("--%s=%s" % (name, value))
        self._model.ask(x, flags + self._predict_flags(), found.__setitem__)
        return found

    def score(self, X, y, sample_weight=None):
        """Returns the accuracy on examples."""
        predicted = self.predict(X)
        y = list(y) if numpy is None else numpy.asarray(y)
        _check_length(len(predicted), len(y))
        right = [bool(a == b) for a, b in zip(predicted, y.ravel().tolist() if numpy is not None else y)]
        weights = _weights(sample_weight, len(right)) or [1.0] * len(right)
        return sum(w for w, r in zip(weights, right) if r) / sum(weights)

    def save(self, path):
        """Writes the model file, which the program reads, too. Classes are kept by their
        names; a pickle keeps them as they are."""
        self._fitted()
        folder = os.path.dirname(os.path.abspath(path))
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".treeloss-", delete=False) as f:
            try:
                with open(self._model.path, "rb") as model:
                    shutil.copyfileobj(model, f)
                f.close()
                os.replace(f.name, path)
            except BaseException:
                with contextlib.suppress(OSError):
                    os.remove(f.name)
                raise

    def close(self):
        """Ends the processes that answer. They end with the classifier, too; the next
        prediction starts another."""
        if hasattr(self, "_model"):
            self._model.close()

    def _fitted(self):
        if not hasattr(self, "_model"):
            raise NotFittedError("This TreeLossClassifier instance is not fitted yet: call fit before this")

    def _read(self, X):
        """The examples to predict, of the kind that the model was trained on."""
        self._fitted()
        x = _examples.read(X)
        if len(x) > 0 and (x.kind == _examples.TEXT) != (self._model.kind == _examples.TEXT):
            raise ValueError("X has %s, but the model was trained on %s" % (_kinds[x.kind], _kinds[self._model.kind]))
        if x.kind != _examples.TEXT and len(x) > 0:
            self._check_feature_names(x.names)
            if x.columns != self.n_features_in_:
                raise ValueError(
                    "X has %d features, but TreeLossClassifier is expecting %d features as input"
                    % (x.columns, self.n_features_in_)
                )
        return x

    def _check_feature_names(self, names):
        """Warns and refuses as scikit-learn's own estimators do."""
        fitted = getattr(self, "feature_names_in_", None)
        if fitted is None and names is None:
            return
        if fitted is None:
            text = "X has feature names, but TreeLossClassifier was fitted without feature names"
            warnings.warn(text, stacklevel=4)
            return
        if names is None:
            warnings.warn(
                "X does not have valid feature names, but TreeLossClassifier was fitted with feature names",
                stacklevel=4,
            )
            return
        fitted = list(fitted)
        if fitted == names:
            return
        text = "The feature names should match those that were passed during fit.\n"
        unseen, missing = sorted(set(names) - set(fitted)), sorted(set(fitted) - set(names))
        for title, some in (("unseen at fit time:", unseen), ("seen at fit time, yet now missing:", missing)):
            if some:
                title = "Feature names " + title
                text += title + "\n" + "".join("- %s\n" % n for n in some[:5]) + ("- ...\n" if len(some) > 5 else "")
        if not unseen and not missing:
            text += "Feature names must be in the same order as they were in fit.\n"
        raise ValueError(text)

    def _predict_flags(self):
        return [] if self.threads is None else ["--threads", str(self.threads)]

    def _names_of(self, classes, kind):
        """The name of each class, by which the program calls it."""
        given = self.class_names
        if given is None:
            names = [str(c) for c in classes]
        elif hasattr(given, "get"):
            names = [given.get(c) for c in classes]
            for c, name in zip(classes, names):
                if name is None:
                    raise ValueError("class_names has no name for the class %r" % (c,))
        else:
            names = list(given)
            if len(names) != len(classes):
                raise ValueError("class_names has %d names for %d classes" % (len(names), len(classes)))
        names = [str(n).strip() for n in names]
        if kind == _examples.SPARSE:
            names = [re.sub(r"[\s,:#]+", "_", n) for n in names]  # LIBSVM's labels are one word
        seen = {}
        for c, name in zip(classes, names):
            if not name:
                raise ValueError("the class %r has no name; give it one with class_names" % (c,))
            if name in seen:
                both = (seen[name], c, name)
                raise ValueError("the classes %r and %r have the same name %r; give others with class_names" % both)
            seen[name] = c
        return names

    def _flags(self, folder, classes, names):
        """The flags of treeloss train for the parameters. What is no file is written to
        one in the folder."""
        flags = []

        def flag(name, value):
            if isinstance(value, bool):
                value = "true" if value else "false"
            elif isinstance(value, (list, tuple)):
                value = ",".join(map(str, value))
            flags.append("--%s=%s" % (name, value))

        for name in ("sharing", "loss", "prior", "names_as_examples", "calibrate", "fourier", "threads", "memory"):
            value = getattr(self, name)
            if value is not None:
                flag(name.replace("_", "-"), {True: "on", False: "off"}[value] if isinstance(value, bool) else value)
        if self.random_state is not None:
            flag("seed", _seed(self.random_state))
        if self.taxonomy is not None:
            flag("taxonomy", _file(self.taxonomy, folder, "taxonomy.csv", _write_taxonomy))
        if self.label_vectors is not None:
            flag("label-vectors", _file(self.label_vectors, folder, "label-vectors.txt", _write_vectors))
        if self.class_weight is not None:
            if self.class_weight == "balanced":
                flag("class-weight", "balanced")
            else:
                given = _by_name(self.class_weight, classes, names)
                flag("class-weight", _file(given, folder, "class-weight.csv", _write_weights))
        for name, value in (self.options or {}).items():
            name = name.replace("_", "-")
            if name in _OURS:
                raise ValueError("options has %r, which is set by fit; give it another way" % name)
            flag(name, value)
        return flags

    @classmethod
    def load(cls, path, classes=None):
        """Returns the classifier of a model file that treeloss train or save wrote.

        classes_ are the names of the classes, or the values of classes, given in the order of
        the sorted names."""
        about(path)  # whose errors name this path
        folder = tempfile.mkdtemp(prefix="treeloss-")
        try:
            shutil.copyfile(path, os.path.join(folder, "model.safetensors"))
            model = Model(folder)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        names = sorted(model.labels)
        if classes is not None and len(classes) != len(names):
            raise ValueError("classes has %d values for the %d classes of %s" % (len(classes), len(names), path))
        values = names if classes is None else list(classes)
        made = cls()
        made._take(model, values if numpy is None else numpy.asarray(values), names, model.columns, model.training)
        made._feature_names(model.names)
        return made


load = TreeLossClassifier.load

_kinds = {_examples.TEXT: "texts", _examples.NUMBERS: "numbers", _examples.SPARSE: "sparse numbers"}


def _parameters():
    return list(inspect.signature(TreeLossClassifier.__init__).parameters)[1:]


def _by_name(weights, classes, names):
    """Weights by the names of the classes, 1 where none is given, as in scikit-learn."""
    if not hasattr(weights, "get"):
        raise ValueError('class_weight is %.80r, want "balanced" or a dict of class to weight' % (weights,))
    return {name: weights.get(c, 1) for c, name in zip(classes, names)}


def _print(line):
    print(line, file=sys.stderr)


def _classes(y, n):
    """The classes of y in sorted order, and the place of each example's class among them."""
    if y is None:
        raise ValueError("TreeLossClassifier requires y to be passed, but the target y is None")
    if numpy is None:
        y = list(y)
        _check_length(n, len(y))
        for i, c in enumerate(y):
            if c is None or c != c:
                raise ValueError("y contains NaN or None: y[%d] is %r; leave the example out" % (i, c))
        try:
            classes = sorted(set(y))
        except TypeError:
            raise ValueError("y has classes of several types, which have no order; use strings") from None
        place = {c: i for i, c in enumerate(classes)}
        return classes, [place[c] for c in y]
    y = numpy.asarray(y)
    if y.ndim == 2 and y.shape[1] == 1:
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected. Please change the shape of y to (n_samples, ),"
            " for example using ravel().",
            DataConversionWarning,
            stacklevel=3,
        )
        y = y.ravel()
    if y.ndim != 1:
        raise ValueError("y should be a 1d array, got an array of shape %s instead." % (y.shape,))
    _check_length(n, len(y))
    if y.dtype.kind == "f":
        if not numpy.isfinite(y).all():
            raise ValueError("Input y contains NaN or infinity; leave these examples out")
        if (y != numpy.floor(y)).any():
            raise ValueError("Unknown label type: continuous. y has fractions, want classes; cut it into ranges first")
    if y.dtype.kind == "O":
        for i, c in enumerate(y):
            if c is None or c != c:
                raise ValueError("Input y contains NaN or None: y[%d] is %r; leave the example out" % (i, c))
    try:
        classes, numbers = numpy.unique(y, return_inverse=True)
    except TypeError:
        raise ValueError("y has classes of several types, which have no order; use y.astype(str)") from None
    return classes, numbers.tolist()


def _check_length(n, labels):
    if n != labels:
        raise ValueError("Found input variables with inconsistent numbers of samples: %s" % [n, labels])


def _weights(given, n):
    """The weights of the examples as a list, None where all are 1."""
    if given is None:
        return None
    if numpy is not None:
        given = numpy.asarray(given, dtype=float)
        if given.ndim != 1:
            raise ValueError("sample_weight has %d dimension(s), want one number for each example" % given.ndim)
        given = given.tolist()
    given = [float(w) for w in given]
    if len(given) != n:
        raise ValueError("sample_weight has %d numbers for %d examples" % (len(given), n))
    for i, w in enumerate(given):
        if not (w >= 0 and math.isfinite(w)):
            raise ValueError("sample_weight[%d] is %r, want a finite number, 0 or more" % (i, w))
    return None if all(w == 1 for w in given) else given


def _seed(random_state):
    """The seed that a random_state of scikit-learn stands for."""
    if hasattr(random_state, "randint"):  # a RandomState, which gives another seed each time
        return int(random_state.randint(2**31 - 1))
    if hasattr(random_state, "integers"):  # a Generator of NumPy
        return int(random_state.integers(2**31 - 1))
    return int(random_state)


def _data(folder, x, names, numbers, weights):
    """Writes the examples, and returns the flags that name their files."""
    if x.kind == _examples.SPARSE:
        if weights is not None:
            raise ValueError("sample_weight is not supported with a sparse X; give X.toarray(), or class_weight")
        path = os.path.join(folder, "examples.libsvm")
        with open(path, "wb", buffering=1 << 16) as f:
            _examples.write_libsvm(f, x, names, numbers)
        return ["--data", path]
    path = os.path.join(folder, "examples.jsonl")
    if x.kind == _examples.TEXT or weights is not None or any(c in n for n in names for c in "\r\n"):
        with open(path, "wb", buffering=1 << 16) as f:
            _examples.write_lines(f, x, names, numbers, weights)
        flags = ["--data", path]  # its keys are found by their names, so that the model is that of any file
        return flags if weights is None else flags + ["--weight", "weight"]
    path, labels = os.path.join(folder, "examples.npy"), os.path.join(folder, "labels.txt")
    with open(path, "wb") as f:
        _examples.write_npy(f, x)
    with open(labels, "wb") as f:
        f.write("".join([names[c] + "\n" for c in numbers]).encode("utf-8", "replace"))
    return ["--data", path, "--labels", labels]


def _file(given, folder, name, write):
    """A path as it is, or the path of a file with what is given."""
    if not hasattr(given, "items"):
        return os.fspath(given)
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8", newline="") as f:
        write(f, given)
    return path


def _write_taxonomy(f, parents):
    csv.writer(f).writerows([("child", "parent")] + [(str(c), str(p)) for c, p in parents.items()])


def _write_weights(f, weights):
    csv.writer(f).writerows([(name, repr(float(w))) for name, w in weights.items()])


def _write_vectors(f, vectors):
    """In the text form of word2vec, whose words have no spaces."""
    rows = {"_".join(str(name).split()): [float(v) for v in vector] for name, vector in vectors.items()}
    if not rows:
        raise ValueError("label_vectors is empty; give a vector for each class")
    f.write("%d %d\n" % (len(rows), len(next(iter(rows.values())))))
    for name, vector in rows.items():
        f.write("%s %s\n" % (name, " ".join(map(repr, vector))))


@contextlib.contextmanager
def _in_words(folder):
    """Errors of files that fit wrote name what the caller gave."""
    try:
        yield
    except _program.Failed as error:
        text = str(error)
        here = re.escape(os.path.join(folder, ""))
        text = re.sub(here + r"(examples\.\w+|labels\.txt)(?::(\d+))?(?::\d+)?", _place, text)
        raise _program.Failed(text.replace(os.path.join(folder, ""), "")) from None


def _place(found):
    name = "y" if found.group(1) == "labels.txt" else "X"
    return "%s[%d]" % (name, int(found.group(2)) - 1) if found.group(2) else name
