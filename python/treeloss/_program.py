"""The program treeloss as a process: run to its end, or kept to answer lines."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import weakref

# Where an environment variable names a program, that one is run.
VARIABLE = "TREELOSS_PROGRAM"


def path():
    """Returns the path of the program: $TREELOSS_PROGRAM, that of the wheel, or the one in
    PATH. RuntimeError says how to get one."""
    if os.environ.get(VARIABLE):
        return os.environ[VARIABLE]
    name = "treeloss.exe" if os.name == "nt" else "treeloss"
    inside = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", name)
    if os.path.exists(inside):
        if not os.access(inside, os.X_OK):  # unpacked by what keeps no modes
            try:
                os.chmod(inside, 0o755)
            except OSError:
                raise RuntimeError("%s may not be executed; run: chmod +x %s" % (inside, inside)) from None
        return inside
    found = shutil.which("treeloss")
    if found:
        with open(found, "rb") as f:
            if f.read(2) != b"#!":  # a script of ours would call this again
                return found
    raise RuntimeError(
        "there is no program treeloss: install the wheel of this platform, or set %s to the path of one" % VARIABLE
    )


class Failed(ValueError):
    """An error of the program, in its words."""


def _error(status, log):
    """Makes an exception of the exit status and the log of a process that failed."""
    lines = [line for line in log.decode("utf-8", "replace").splitlines() if line.strip()]
    said = [line for line in lines if line.startswith("treeloss: ")]
    if status in (1, 2) and said:
        return Failed(said[-1][len("treeloss: ") :])
    if status < 0:
        return RuntimeError("the program treeloss was ended by signal %d" % -status)
    return RuntimeError("the program treeloss ended with status %d: %s" % (status, "\n".join(lines[-20:])))


def _started(args, **streams):
    program = path()
    try:
        return subprocess.Popen([program] + args, **streams)
    except OSError as error:
        raise RuntimeError("the program %s cannot be run: %s" % (program, error.strerror)) from error


def run(args, log=None):
    """Runs the program to its end and returns its standard output as bytes.

    log is called with each line of its log; without one it writes none. Failed is an
    error that the program found, RuntimeError anything else. Where Python is
    interrupted, so is the program, which leaves nothing half written.
    """
    if log is None:
        args = args + ["--quiet"]
    with tempfile.TemporaryFile() as results:
        child = _started(args, stdin=subprocess.DEVNULL, stdout=results, stderr=subprocess.PIPE)
        lines = []
        try:
            for line in child.stderr:
                lines = lines[-99:] + [line]
                if log is not None:
                    log(line.decode("utf-8", "replace").rstrip("\n"))
            child.wait()
        except BaseException:
            child.terminate()
            try:
                child.wait(timeout=10)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
            raise
        finally:
            child.stderr.close()
        if child.returncode != 0:
            raise _error(child.returncode, b"".join(lines))
        results.seek(0)
        return results.read()


# Of all models together at most so many processes are kept; one costs the memory of its
# model and some 40 MB.
MOST_KEPT = 8

_all = weakref.WeakSet()
_all_lock = threading.Lock()


class Answers:
    """A process that answers each line of its standard input with a line of JSON.

    It starts with the first question and is kept for the next ones, until close, until the
    object is gone, or until others of MOST_KEPT are used. Any number of threads may ask:
    one after the other. A forked process starts one of its own.
    """

    def __init__(self, args):
        self._args = args
        self._forget()

    def _forget(self):
        self._pid = os.getpid()
        self._lock = threading.RLock()
        self._process = self._log = self._end = None
        self.used = 0.0

    def ask(self, lines, count, take):
        """Writes lines, bytes that are count lines of questions, and calls take(i, answer)
        with each answer in order. Failed is an error that the program found in a line."""
        if self._pid != os.getpid():
            self._forget()  # after a fork: the process is that of the parent
        with self._lock:
            self.used = time.monotonic()
            try:
                if self._process is None or self._process.poll() is not None:
                    self.close()
                    self._start()
                self._exchange(lines, count, take)
            except BaseException:
                self.close()  # what it still writes belongs to no question
                raise

    def _start(self):
        _make_room(self)
        self._log = tempfile.TemporaryFile()
        # Ctrl-C in a terminal reaches all processes in front of it, but this one is to live on.
        if os.name == "nt":
            own = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
        else:
            own = {"start_new_session": True}
        self._process = _started(
            self._args, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log, **own
        )
        self._end = weakref.finalize(self, _finish, self._process, self._log, os.getpid())

    def _exchange(self, lines, count, take):
        process = self._process
        writer = None
        if count == 1:  # it is read whole before it is answered
            _write(process.stdin, lines)
        else:  # the pipe of answers may be full before all questions are written
            writer = threading.Thread(target=_write, args=(process.stdin, lines), daemon=True)
            writer.start()
        for i in range(count):
            line = process.stdout.readline()
            if not line.endswith(b"\n"):
                process.stdin.close()
                status = process.wait()
                self._log.seek(0)
                raise _error(status, self._log.read())
            take(i, json.loads(line))
        if writer is not None:
            writer.join()

    def close(self):
        """Ends the process. The next question starts another."""
        if self._pid != os.getpid():
            self._forget()
        with self._lock:
            if self._end is not None:
                self._end()
            self._process = self._log = self._end = None


def _write(stdin, lines):
    try:
        stdin.write(lines)
        stdin.flush()
    except (OSError, ValueError):
        pass  # the process has ended: what it wrote to its log says why


def _finish(process, log, pid):
    """Ends a process and waits for it, so that none is left behind."""
    mine = os.getpid() == pid  # not in a forked process
    if mine and process.poll() is None:
        process.kill()  # it holds nothing that could be lost
        process.wait()
    for stream in (process.stdin, process.stdout, log):
        try:
            stream.close()
        except OSError:
            pass
    if not mine:
        process.returncode = 0  # else Python would wait for what is no child of this one


def _make_room(newest):
    """Ends the process that was used longest ago where there are MOST_KEPT others."""
    with _all_lock:
        _all.add(newest)
        kept = [a for a in _all if a is not newest and a._process is not None and a._pid == os.getpid()]
    kept.sort(key=lambda a: a.used)
    for old in kept[: max(0, len(kept) - MOST_KEPT + 1)]:
        if old._lock.acquire(blocking=False):  # else it is answering
            try:
                old.close()
            finally:
                old._lock.release()
