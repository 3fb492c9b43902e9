"""The code of docs/scikit-learn.md runs, and prints what the page says."""

import contextlib
import io
import os
import re
import tempfile
import unittest

from . import ROOT, program

try:
    import pandas
    import sklearn
except ImportError:
    sklearn = None


@unittest.skipIf(sklearn is None, "needs scikit-learn and pandas")
class Page(unittest.TestCase):
    @unittest.skipIf(os.environ.get("TREELOSS_SHORT") == "1", "trains on banking77, some seconds")
    def test_code_of_the_page(self):
        with open(os.path.join(ROOT, "docs", "scikit-learn.md"), encoding="utf-8") as f:
            snippets = re.findall("```python\n(.*?)```\n\n```text\n(.*?)```", f.read(), re.DOTALL)
        self.assertEqual(len(snippets), 1)
        before = os.getcwd()
        for code, want in snippets:
            with tempfile.TemporaryDirectory() as folder:
                os.chdir(folder)
                try:
                    program("quickstart", "--quiet", "--save-data", ".")
                    printed = io.StringIO()
                    with contextlib.redirect_stdout(printed):
                        exec(code, {})
                finally:
                    os.chdir(before)
            got, want = printed.getvalue().splitlines(), want.splitlines()
            self.assertEqual(got[-1], want[-1])  # that of treeloss; the other varies with scikit-learn
            self.assertEqual(len(got), len(want))
