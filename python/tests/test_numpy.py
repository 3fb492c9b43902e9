"""With NumPy and pandas: arrays, Series and data frames in, arrays out."""

import os
import unittest
import warnings

from treeloss import TreeLossClassifier

from . import answers, questions

try:
    import numpy as np
    import pandas as pd
except ImportError:
    np = pd = None


@unittest.skipIf(pd is None, "needs NumPy and pandas")
class Frames(unittest.TestCase):
    def test_texts(self):
        texts, labels = questions()
        want = TreeLossClassifier().fit(texts, labels)
        for x in (pd.Series(texts, index=range(5, 5 + len(texts))), np.array(texts), np.array(texts, dtype=object), pd.DataFrame({"q": texts}), tuple(texts)):
            with self.subTest(type(x)):
                m = TreeLossClassifier().fit(x, pd.Series(labels))
                self.assertFalse(hasattr(m, "n_features_in_"))
                np.testing.assert_array_equal(m.predict(x), want.predict(texts))
                np.testing.assert_array_equal(m.predict_proba(x), want.predict_proba(texts))
        self.assertEqual(want.predict_proba(texts).shape, (len(texts), len(want.classes_)))
        self.assertIsInstance(want.classes_, np.ndarray)

    def test_classes_keep_their_type(self):
        texts, labels = questions()
        codes = pd.Series(labels).astype("category").cat.codes
        m = TreeLossClassifier().fit(texts, codes)
        self.assertEqual(m.classes_.dtype, codes.dtype)
        self.assertEqual(m.predict(texts).dtype, codes.dtype)

    def test_columns(self):
        rng = np.random.default_rng(1)
        x = pd.DataFrame(rng.normal(size=(200, 3)), columns=["a", "b", "c"])
        y = np.where(x.a > x.b, "more", "less")
        m = TreeLossClassifier().fit(x, y)
        self.assertEqual(list(m.feature_names_in_), ["a", "b", "c"])
        with self.assertRaisesRegex(ValueError, "same order"):
            m.predict(x[["b", "a", "c"]])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            np.testing.assert_array_equal(m.predict(x.to_numpy()), m.predict(x))
            np.testing.assert_array_equal(m.predict(x.to_numpy(np.float32).astype(float)), m.predict(x.astype(np.float32)))

    def test_refused(self):
        fit = TreeLossClassifier().fit
        for text, x in (
            ("2 columns, some of texts", pd.DataFrame({"a": ["x", "y"], "b": [1, 2]})),
            ("Reshape your data", np.zeros(2)),
            ("Reshape your data", np.zeros((2, 2, 2))),
            ("X contains NaN or infinity: X[1, 0] is nan", np.array([[1.0], [np.nan]])),
            ("X[1] is nan (float), want a text", pd.Series(["a", np.nan])),
        ):
            with self.subTest(text), self.assertRaises(ValueError) as raised:
                fit(x, [0, 1])
            self.assertIn(text, str(raised.exception))


@unittest.skipIf(pd is None, "needs NumPy and pandas")
class Banking77(unittest.TestCase):
    data = os.environ.get("TREELOSS_BANKING77", os.path.join(os.path.dirname(__file__), "..", "..", "..", "shared", "data", "banking77"))

    @unittest.skipUnless(os.path.isdir(data) and os.environ.get("TREELOSS_SHORT") != "1", "needs banking77's train.csv and test.csv in TREELOSS_BANKING77; some seconds")
    def test_predictions_are_those_of_the_program(self):
        import tempfile

        from . import program

        train, test = (os.path.join(self.data, name) for name in ("train.csv", "test.csv"))
        d, e = pd.read_csv(train), pd.read_csv(test)
        m = TreeLossClassifier().fit(d.text, d.label)
        with tempfile.TemporaryDirectory() as folder:
            file, saved = os.path.join(folder, "m.safetensors"), os.path.join(folder, "saved.safetensors")
            program("train", "--quiet", "--data", train, "--model", file)
            m.save(saved)
            with open(file, "rb") as a, open(saved, "rb") as b:
                self.assertTrue(a.read() == b.read())
            self.assertEqual(m.predict(e.text).tolist(), [a["label"] for a in answers(file, test)])
        self.assertGreater(m.score(e.text, e.label), 0.91)
