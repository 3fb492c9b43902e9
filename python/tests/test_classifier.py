"""With nothing but Python: what the program says is what the classifier returns."""

import copy
import os
import pickle
import random
import tempfile
import unittest

from treeloss import TreeLossClassifier, load
from treeloss import _examples

from . import answers, program, questions, questions_file

# Texts that a careless exchange of lines would break.
STRANGE = ["", " ", "\n", "two\nlines\r\n", "\x00\x1b[1m", '"quoted" \\n {"text": "x"}', "\ud800", "カード 🏧 é é", "x" * 200_000, "\u2028\x85"]


class Texts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.texts, cls.labels = questions()
        cls.model = TreeLossClassifier().fit(cls.texts, cls.labels)
        cls.folder = tempfile.TemporaryDirectory()
        cls.file = os.path.join(cls.folder.name, "m.safetensors")
        program("train", "--quiet", "--data", questions_file(), "--model", cls.file)

    @classmethod
    def tearDownClass(cls):
        cls.model.close()
        cls.folder.cleanup()

    def test_model_is_that_of_the_program(self):
        saved = os.path.join(self.folder.name, "saved.safetensors")
        self.model.save(saved)
        with open(self.file, "rb") as a, open(saved, "rb") as b:
            self.assertEqual(a.read(), b.read())

    def test_predictions_are_those_of_the_program(self):
        want = answers(self.file, questions_file())
        self.assertEqual(list(self.model.predict(self.texts)), [a["label"] for a in want])
        p = self.model.predict_proba(self.texts)
        classes = list(self.model.classes_)
        for row, a in zip(p, want):
            self.assertAlmostEqual(sum(row), 1, places=12)
            self.assertEqual(classes[max(range(len(row)), key=row.__getitem__)], a["label"])
            self.assertAlmostEqual(row[classes.index(a["label"])], a["probability"], delta=1e-6)
        self.assertEqual(classes, sorted(set(self.labels)))

    def test_log_probabilities(self):
        import math

        for logs, p in zip(self.model.predict_log_proba(self.texts[:3]), self.model.predict_proba(self.texts[:3])):
            for a, b in zip(logs, p):
                self.assertAlmostEqual(math.exp(a), b)

    def test_answers(self):
        found = self.model.answers(self.texts[:4], top=2)
        self.assertEqual(found, answers(self.file, "--top", "2", questions_file())[:4])
        self.assertTrue(self.model.answers(["zzz"], reject=0.9999)[0]["rejected"])

    def test_strange_texts_keep_their_places(self):
        alone = [self.model.predict([t])[0] for t in STRANGE]
        mixed = list(self.model.predict(STRANGE + self.texts + STRANGE))
        self.assertEqual(mixed[: len(STRANGE)], alone)
        self.assertEqual(mixed[-len(STRANGE) :], alone)
        self.assertEqual(mixed[len(STRANGE) : -len(STRANGE)], list(self.model.predict(self.texts)))
        TreeLossClassifier().fit(STRANGE + self.texts, [self.labels[0]] * len(STRANGE) + self.labels)

    def test_many_texts_block_no_pipe(self):
        many = self.texts * 300
        self.assertEqual(list(self.model.predict(many)), list(self.model.predict(self.texts)) * 300)
        self.assertEqual(len(self.model.predict_proba(many)), len(many))

    def test_no_texts(self):
        self.assertEqual(len(self.model.predict([])), 0)

    def test_classes_of_other_types(self):
        names = sorted(set(self.labels))
        numbers = [names.index(y) for y in self.labels]
        m = TreeLossClassifier(class_names=names).fit(self.texts, numbers)
        self.assertEqual([names[c] for c in m.predict(self.texts)], list(self.model.predict(self.texts)))
        self.assertEqual(m.class_names_, names)
        m = TreeLossClassifier().fit(self.texts, [y == names[0] for y in self.labels])
        self.assertEqual(sorted(m.classes_), [False, True])
        self.assertIn(bool(m.predict(["card"])[0]), (False, True))

    def test_copies(self):
        want = list(self.model.predict(self.texts))
        for other in (pickle.loads(pickle.dumps(self.model)), copy.deepcopy(self.model), load(self.file)):
            self.assertEqual(list(other.predict(self.texts)), want)
            self.assertEqual(list(other.classes_), list(self.model.classes_))
            self.assertEqual(other.get_params(), self.model.get_params())
            self.assertEqual(other.training_, self.model.training_)
        names = list(self.model.classes_)
        numbered = load(self.file, classes=range(len(names)))
        self.assertEqual([names[c] for c in numbered.predict(self.texts)], want)

    def test_parameters_reach_the_program(self):
        m = TreeLossClassifier(sharing="none", prior=7, loss="cross-entropy", random_state=3, calibrate=False, threads=1)
        training = m.fit(self.texts, self.labels).training_
        self.assertEqual((training["prior"], training["seed"], training["loss"]), (7, 3, "cross-entropy"))
        self.assertNotIn("calibration", training)
        sgd = TreeLossClassifier(sharing="none", options={"trainer": "sgd", "epochs": 2}).fit(self.texts, self.labels)
        self.assertEqual(sgd.training_["trainer"], "sgd")

    def test_knowledge_of_the_classes(self):
        classes = sorted(set(self.labels))
        groups = {c: "group %d" % (i % 2) for i, c in enumerate(classes)}
        m = TreeLossClassifier(sharing="taxonomy", taxonomy=groups).fit(self.texts, self.labels)
        self.assertEqual(m.training_["sharing"], "taxonomy")
        self.assertIn("path", m.answers(["where?"], confidence=0.99)[0])
        vectors = {c: [random.Random(10 * i + j).random() for j in range(5)] for i, c in enumerate(classes)}
        m = TreeLossClassifier(sharing="vectors", label_vectors=vectors).fit(self.texts, self.labels)
        self.assertEqual(m.training_["sharing"], "vectors")

    def test_weights(self):
        two = [c for c in sorted(set(self.labels))[:2]]
        kept = [(t, y) for t, y in zip(self.texts, self.labels) if y in two]
        texts, labels = [t for t, _ in kept], [y for _, y in kept]
        for weights, favoured in ((dict(zip(two, (1000, 0.001))), two[0]), (dict(zip(two, (0.001, 1000))), two[1])):
            m = TreeLossClassifier(class_weight=weights).fit(texts, labels)
            self.assertEqual(m.predict(["zzz"])[0], favoured)
            m = TreeLossClassifier().fit(texts, labels, sample_weight=[weights[y] for y in labels])
            self.assertEqual(m.predict(["zzz"])[0], favoured)
        TreeLossClassifier(class_weight="balanced").fit(texts, labels)
        # Weight 0 is as good as not there.
        without = TreeLossClassifier().fit(texts, labels)
        m = TreeLossClassifier().fit(texts + ["noise"] * 5, labels + ["other"] * 5, sample_weight=[1] * len(texts) + [0] * 5)
        self.assertEqual(list(m.classes_), two)
        self.assertEqual(without.answers(texts), m.answers(texts))

    def test_score(self):
        right = [a == b for a, b in zip(self.model.predict(self.texts), self.labels)]
        self.assertAlmostEqual(self.model.score(self.texts, self.labels), sum(right) / len(right))
        self.assertEqual(self.model.score(self.texts, self.labels, [float(r) for r in right]), 1)

    def test_log(self):
        import contextlib
        import io

        log = io.StringIO()
        with contextlib.redirect_stderr(log):
            TreeLossClassifier(verbose=True).fit(self.texts, self.labels)
        self.assertIn("examples of", log.getvalue())


def blobs(n, classes, columns, seed=1):
    draw = random.Random(seed)
    centres = [[draw.gauss(0, 3) for _ in range(columns)] for _ in range(classes)]
    y = [draw.randrange(classes) for _ in range(n)]
    return [[draw.gauss(v, 1) for v in centres[c]] for c in y], ["class %d" % c for c in y]


class Numbers(unittest.TestCase):
    def test_lists(self):
        x, y = blobs(300, 4, 3)
        m = TreeLossClassifier().fit(x, y)
        self.assertEqual(m.n_features_in_, 3)
        self.assertGreater(m.score(x, y), 0.8)
        with tempfile.TemporaryDirectory() as folder:
            saved, data = os.path.join(folder, "m.safetensors"), os.path.join(folder, "x.csv")
            m.save(saved)
            with open(data, "w") as f:
                f.write("x1,x2,x3\n" + "".join("%r,%r,%r\n" % tuple(row) for row in x))
            self.assertEqual([a["label"] for a in answers(saved, data)], list(m.predict(x)))
            self.assertEqual(list(load(saved).predict(x)), list(m.predict(x)))

    def test_many_go_by_file_with_the_same_answers(self):
        from treeloss import _model

        x, y = blobs(200, 3, 2)
        m = TreeLossClassifier().fit(x, y)
        want = [list(row) for row in m.predict_proba(x)]
        most, _model.MOST_NUMBERS = _model.MOST_NUMBERS, 10
        try:
            self.assertEqual([list(row) for row in m.predict_proba(x)], want)
        finally:
            _model.MOST_NUMBERS = most

    def test_weights_change_the_file_and_not_the_model(self):
        x, y = blobs(200, 3, 2)
        a = TreeLossClassifier().fit(x, y)
        b = TreeLossClassifier().fit(x, y, sample_weight=[1.0] * 199 + [1.0000001])
        for p, q in zip(a.predict_proba(x), b.predict_proba(x)):
            for v, w in zip(p, q):
                self.assertAlmostEqual(v, w, places=3)

    def test_class_names_with_line_breaks(self):
        x, y = blobs(100, 2, 2)
        y = [c.replace(" ", "\n") for c in y]
        m = TreeLossClassifier().fit(x, y)
        self.assertEqual(set(m.predict(x)), set(y))


class Errors(unittest.TestCase):
    """Each is a ValueError of one line that says what to do, or of scikit-learn's words."""

    def refused(self, text, call, error=ValueError):
        with self.assertRaises(error) as raised:
            call()
        self.assertIn(text, str(raised.exception))
        self.assertNotIn("/treeloss-", str(raised.exception))

    def test_data(self):
        texts, labels = questions()
        fit = TreeLossClassifier().fit
        self.refused("one str; give a list", lambda: fit("text", labels))
        self.refused("None; give a list", lambda: fit(None, labels))
        self.refused("inconsistent numbers", lambda: fit(texts, labels[1:]))
        self.refused("y to be passed", lambda: fit(texts, None))
        self.refused("X[1] is None", lambda: fit([texts[0], None] + texts[2:], labels))
        self.refused("y[0] is None", lambda: fit(texts, [None] + labels[1:]))
        self.refused("one class", lambda: fit(texts, ["a"] * len(texts)))
        self.refused("0 sample(s)", lambda: fit([], []), ValueError)
        self.refused("has no name", lambda: fit(texts, [" "] + labels[1:]))
        self.refused("the same name", lambda: fit(texts, ["a", "a "] + labels[2:]))
        self.refused("names for", lambda: TreeLossClassifier(class_names=["a"]).fit(texts, labels))
        self.refused("sample_weight[0]", lambda: fit(texts, labels, [-1] * len(texts)))
        self.refused("NaN or infinity", lambda: fit([[1.0], [float("nan")]], ["a", "b"]))
        self.refused("X[1]", lambda: fit([[1.0, 2], [2.0, 1e300], [1, 1]], ["a", "b", "b"]))

    def test_parameters(self):
        texts, labels = questions()
        for text, params in (
            ("--sharing", {"sharing": "nothing"}),
            ("--prior", {"prior": -1}),
            ("none.csv: no such file", {"taxonomy": "none.csv", "sharing": "taxonomy"}),
            ("which is set by fit", {"options": {"model": "x"}}),
            ("unknown flag", {"options": {"colour": "x"}}),
            ("class_weight", {"class_weight": 3}),
            ("label_vectors is empty", {"label_vectors": {}}),
            ("taxonomy.csv", {"taxonomy": {"a": "b", "b": "a"}, "sharing": "taxonomy"}),
        ):
            with self.subTest(text):
                self.refused(text, lambda: TreeLossClassifier(**params).fit(texts, labels))

    def test_predict(self):
        texts, labels = questions()
        self.refused("not fitted", lambda: TreeLossClassifier().predict(texts))
        m = TreeLossClassifier().fit(texts, labels)
        self.refused("trained on texts", lambda: m.predict([[1.0, 2.0]]))
        numbers = TreeLossClassifier().fit([[1.0, 2], [3, 4], [1, 1], [4, 4]], [0, 1, 0, 1])
        self.refused("expecting 2 features", lambda: numbers.predict([[1.0]]))
        self.refused("X[1]: ", lambda: numbers.predict([[1.0, 2], [1e300, 0], [1, 1]]))
        self.assertEqual(len(numbers.predict([[1.0, 2]])), 1)  # after an error, too

    def test_files(self):
        self.refused("", lambda: load("none.safetensors"), FileNotFoundError)
        self.refused("no model file", lambda: load(questions_file()))
        with tempfile.TemporaryDirectory() as folder:
            data, model = os.path.join(folder, "x.jsonl"), os.path.join(folder, "m.safetensors")
            with open(data, "w") as f:
                f.write('{"text": "a b", "labels": ["a", "b"]}\n{"text": "a", "labels": ["a"]}\n{"text": "b", "labels": ["b"]}\n' * 4)
            program("train", "--quiet", "--multilabel", "--data", data, "--model", model)
            self.refused("several labels", lambda: load(model))
        with tempfile.NamedTemporaryFile(suffix=".safetensors") as f:
            self.refused("no model file", lambda: load(f.name))

    def test_no_program(self):
        kept = os.environ.get("TREELOSS_PROGRAM")
        os.environ["TREELOSS_PROGRAM"] = "/none"
        try:
            self.refused("cannot be run", lambda: TreeLossClassifier().fit(*questions()), RuntimeError)
        finally:
            os.environ.pop("TREELOSS_PROGRAM")
            if kept is not None:
                os.environ["TREELOSS_PROGRAM"] = kept


class Files(unittest.TestCase):
    def test_npy_header(self):
        import io

        for n in (1, 9, 1000, 123456):
            f = io.BytesIO()
            x = _examples.Examples(_examples.NUMBERS, [[0.5] * 3] * 2, 3)
            x.rows = [[0.5] * 3] * n if n < 2000 else x.rows * (n // 2)
            _examples.write_npy(f, x)
            data = f.getvalue()
            end = data.index(b"\n") + 1
            self.assertEqual(end % 64, 0)
            self.assertEqual(len(data) - end, len(x.rows) * 24)


if __name__ == "__main__":
    unittest.main()
