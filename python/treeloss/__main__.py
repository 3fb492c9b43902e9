"""The command treeloss of a wheel: the program itself, with the same arguments."""

import os
import subprocess
import sys

from . import _program


def main():
    try:
        program = _program.path()
    except RuntimeError as error:
        sys.exit("treeloss: %s" % error)
    if os.name == "nt":  # there os.exec starts another process and ends this one at once
        try:
            sys.exit(subprocess.call([program] + sys.argv[1:]))
        except KeyboardInterrupt:
            sys.exit(130)
    os.execv(program, [program] + sys.argv[1:])


if __name__ == "__main__":
    main()
