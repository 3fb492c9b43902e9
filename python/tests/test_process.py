"""No process is left behind, whatever happens; any number of threads may ask."""

import gc
import os
import signal
import subprocess
import sys
import threading
import time
import unittest

from treeloss import TreeLossClassifier, _program

from . import questions

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def children(pid=None):
    """The processes that a process started, ended and waiting ones too (Linux)."""
    found = []
    for name in os.listdir("/proc"):
        try:
            with open("/proc/%s/stat" % name) as f:
                if int(f.read().rsplit(")", 1)[1].split()[1]) == (pid or os.getpid()):
                    found.append(int(name))
        except (OSError, ValueError, IndexError):
            pass
    return found


def until(true, seconds=20):
    end = time.monotonic() + seconds
    while not true() and time.monotonic() < end:
        time.sleep(0.02)
    return true()


@unittest.skipUnless(os.path.isdir("/proc/self"), "needs /proc")
class Processes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.texts, cls.labels = questions()
        cls.model = TreeLossClassifier(threads=1).fit(cls.texts, cls.labels)
        cls.want = list(cls.model.predict(cls.texts))

    def setUp(self):
        self.model.close()
        gc.collect()

    def test_one_process_for_many_questions_and_none_after(self):
        model = TreeLossClassifier().fit(self.texts, self.labels)
        self.assertEqual(children(), [])
        for _ in range(20):
            model.predict(self.texts)
        self.assertEqual(len(children()), 1)
        folder = model._model._folder
        self.assertTrue(os.path.isdir(folder))
        del model
        gc.collect()
        self.assertEqual(children(), [])
        self.assertFalse(os.path.isdir(folder))

    def test_a_killed_process_is_started_again(self):
        self.model.predict(self.texts)
        os.kill(children()[0], signal.SIGKILL)
        until(lambda: self.model._model._answers[("--threads", "1")]._process.poll() is not None)
        self.assertEqual(list(self.model.predict(self.texts)), self.want)
        self.assertEqual(len(children()), 1)

    def test_threads(self):
        wrong = []

        def ask(i):
            for n in range(20):
                at = (i * 7 + n) % len(self.texts)
                if self.model.predict([self.texts[at]])[0] != self.want[at]:
                    wrong.append(at)
                if len(self.model.predict_proba(self.texts)) != len(self.texts):
                    wrong.append(-1)

        threads = [threading.Thread(target=ask, args=(i,)) for i in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(wrong, [])
        self.assertEqual(len(children()), 2)  # of classes, of probabilities

    def test_no_more_than_some_are_kept(self):
        models = [TreeLossClassifier(threads=1).fit(self.texts, self.labels) for _ in range(_program.MOST_KEPT + 3)]
        for _ in range(2):
            for m in models:
                self.assertEqual(list(m.predict(self.texts)), self.want)
                self.assertLessEqual(len(children()), _program.MOST_KEPT)

    def test_fork(self):
        self.model.predict(self.texts)
        mine = children()
        pid = os.fork()
        if pid == 0:
            status = 1
            try:
                if list(self.model.predict(self.texts)) == self.want:
                    self.model.close()
                    gc.collect()
                    status = 0
            finally:
                os._exit(status)
        self.assertEqual(os.waitpid(pid, 0)[1], 0)
        self.assertEqual(children(), mine)  # the parent's still lives
        self.assertEqual(list(self.model.predict(self.texts)), self.want)

    def script(self, code):
        code = "from tests import questions\nfrom treeloss import TreeLossClassifier\ntexts, labels = questions()\n" + code
        return subprocess.Popen([sys.executable, "-c", code], cwd=HERE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)

    def test_interrupted_while_it_trains(self):
        p = self.script("print('go', flush=True)\nTreeLossClassifier(sharing='none', options={'trainer': 'sgd', 'epochs': 1000000}).fit(texts, labels)\n")
        p.stdout.readline()
        self.assertTrue(until(lambda: children(p.pid)))
        child = children(p.pid)[0]
        time.sleep(0.3)
        os.kill(p.pid, signal.SIGINT)  # of Python alone, as in a notebook
        _, log = p.communicate(timeout=30)
        self.assertIn(b"KeyboardInterrupt", log)
        self.assertTrue(until(lambda: not os.path.exists("/proc/%d" % child)))

    def test_interrupted_while_it_answers(self):
        p = self.script(
            "m = TreeLossClassifier().fit(texts, labels)\nwant = list(m.predict(texts))\n"
            "print('go', flush=True)\n"
            "try:\n    m.predict(texts * 200000)\nexcept KeyboardInterrupt:\n    print(list(m.predict(texts)) == want, flush=True)\n"
        )
        p.stdout.readline()
        time.sleep(0.5)
        os.killpg(p.pid, signal.SIGINT)  # as a terminal does
        out, log = p.communicate(timeout=60)
        self.assertEqual((out, log), (b"True\n", b""))

    def test_python_is_killed(self):
        p = self.script("m = TreeLossClassifier().fit(texts, labels)\nm.predict(texts)\nprint('go', flush=True)\nimport time\ntime.sleep(60)\n")
        p.stdout.readline()
        child = children(p.pid)[0]
        p.kill()
        p.communicate()

        def ended():
            try:
                with open("/proc/%d/stat" % child) as f:
                    return ") Z " in f.read()
            except OSError:
                return True

        self.assertTrue(until(ended))
