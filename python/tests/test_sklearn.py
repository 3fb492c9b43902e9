"""With scikit-learn: its checks of estimators, and what its users do with them."""

import os
import tempfile
import unittest
import warnings

from treeloss import TreeLossClassifier

from . import questions

try:
    import numpy as np
    import sklearn
    from sklearn.base import clone
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.model_selection import GridSearchCV, cross_val_score
    from sklearn.multiclass import OneVsRestClassifier
    from sklearn.pipeline import Pipeline, make_pipeline
    from sklearn.preprocessing import FunctionTransformer, StandardScaler
    from sklearn.utils.estimator_checks import check_estimator
except ImportError:
    sklearn = None

short = os.environ.get("TREELOSS_SHORT") == "1"


@unittest.skipIf(sklearn is None, "needs scikit-learn")
class ScikitLearn(unittest.TestCase):
    def setUp(self):
        warnings.simplefilter("ignore")  # few examples a class
        self.texts, self.labels = questions()

    @unittest.skipIf(short, "trains some hundred models, 20 seconds")
    def test_check_estimator(self):
        left_out = []
        for estimator, check in check_estimator(TreeLossClassifier(threads=1), generate_only=True):
            try:
                check(estimator)
            except unittest.SkipTest as why:
                left_out.append(str(why))
        self.assertTrue(all("check_sample_weights_invariance" in why for why in left_out), left_out)

    @unittest.skipIf(short, "of check_estimator")
    def test_weights_are_examples(self):
        """The check that check_estimator leaves out: weights of 1, and of 0, here without
        shuffling the examples, too."""
        from sklearn.utils.estimator_checks import check_sample_weights_invariance

        check_sample_weights_invariance("TreeLossClassifier", TreeLossClassifier(), kind="ones")
        x = np.array([[1, 3]] * 4 + [[2, 1]] * 4 + [[3, 3]] * 4 + [[4, 1]] * 4, dtype=float)
        y = np.array(([1] * 4 + [2] * 4) * 2)
        a = TreeLossClassifier().fit(x, y)
        b = TreeLossClassifier().fit(np.vstack([x, x + 1]), np.hstack([y, 3 - y]), sample_weight=[1] * 16 + [0] * 16)
        np.testing.assert_allclose(a.predict_proba(x), b.predict_proba(x), atol=1e-4)  # JSON has them after a file of NumPy's

    def test_clone(self):
        m = TreeLossClassifier(prior=3, options={"trainer": "sgd"})
        self.assertEqual(clone(m).get_params(), m.get_params())
        self.assertFalse(hasattr(clone(m.fit(self.texts, self.labels)), "classes_"))

    def test_cross_validation_of_texts(self):
        for x in (self.texts, np.array(self.texts, dtype=object)):
            scores = cross_val_score(TreeLossClassifier(), x, self.labels, cv=3, error_score="raise")
            self.assertEqual(len(scores), 3)

    def test_grid_search(self):
        search = GridSearchCV(Pipeline([("model", TreeLossClassifier(sharing="none"))]), {"model__prior": [0.1, 10]}, cv=3, error_score="raise")
        search.fit(self.texts, self.labels)
        self.assertEqual(search.best_estimator_["model"].training_["prior"], search.best_params_["model__prior"])
        self.assertEqual(len(search.predict(self.texts)), len(self.texts))

    def test_in_other_processes(self):
        scores = cross_val_score(TreeLossClassifier(threads=1), self.texts, self.labels, cv=3, n_jobs=2, error_score="raise")
        np.testing.assert_array_equal(scores, cross_val_score(TreeLossClassifier(), self.texts, self.labels, cv=3))

    def test_pipelines(self):
        lower = FunctionTransformer(lambda texts: [t.lower() for t in texts])
        self.assertGreater(make_pipeline(lower, TreeLossClassifier()).fit(self.texts, self.labels).score(self.texts, self.labels), 0.5)
        sparse = make_pipeline(TfidfVectorizer(), TreeLossClassifier()).fit(self.texts, self.labels)
        self.assertEqual(sparse[-1].n_features_in_, len(sparse[0].vocabulary_))
        self.assertGreater(sparse.score(self.texts, self.labels), 0.5)
        dense = sparse[0].transform(self.texts).toarray()
        np.testing.assert_array_equal(sparse[-1].predict_proba(dense), sparse.predict_proba(self.texts))
        x = sparse[0].transform(self.texts)
        from_dense = make_pipeline(StandardScaler(), TreeLossClassifier()).fit(dense, self.labels)
        self.assertEqual(from_dense.predict(x.toarray()).tolist(), from_dense[-1].predict(from_dense[0].transform(x.toarray())).tolist())
        with self.assertRaisesRegex(ValueError, "sample_weight is not supported with a sparse X"):
            TreeLossClassifier().fit(x, self.labels, sample_weight=[2] * len(self.labels))

    def test_around_others(self):
        for around in (CalibratedClassifierCV(TreeLossClassifier(), cv=2), OneVsRestClassifier(TreeLossClassifier())):
            with self.subTest(type(around)):
                p = around.fit(np.array(self.texts, dtype=object), np.array(self.labels)).predict_proba(np.array(self.texts, dtype=object))
                np.testing.assert_allclose(p.sum(axis=1), 1)

    def test_joblib(self):
        import joblib

        m = TreeLossClassifier().fit(self.texts, self.labels)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "m.joblib")
            joblib.dump(m, path)
            np.testing.assert_array_equal(joblib.load(path).predict_proba(self.texts), m.predict_proba(self.texts))
