"""Tests of the package. TREELOSS_PROGRAM names the program to test; run them with

    python3 -m unittest discover -s python/tests -t python
"""

import csv
import json
import os
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def questions():
    """The texts and classes of a small file of questions."""
    with open(questions_file(), newline="", encoding="utf-8") as f:
        rows = list(csv.DictReader(f))
    return [r["text"] for r in rows], [r["label"] for r in rows]


def questions_file():
    return os.path.join(ROOT, "testdata", "questions.csv")


def program(*args, stdin=None):
    """What the program itself prints."""
    from treeloss import program as path

    done = subprocess.run([path(), *args], input=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True)
    return done.stdout


def answers(model, *args, stdin=None):
    return [json.loads(line) for line in program("predict", "--quiet", "--json", "--model", model, *args, stdin=stdin).splitlines()]
