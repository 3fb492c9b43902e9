"""Treeloss: classifiers with many similar classes, from few examples of each.

    from treeloss import TreeLossClassifier
    model = TreeLossClassifier().fit(texts, labels)
    model.predict(["where is my card?"])

The package runs the program treeloss, which a wheel holds. It needs nothing but Python;
with NumPy, pandas and scikit-learn it takes and gives what these do.
"""

from ._program import path as program
from .classifier import TreeLossClassifier, load

__all__ = ["TreeLossClassifier", "load", "program"]
__version__ = "0.0.0"  # a wheel has the version that it was built for
