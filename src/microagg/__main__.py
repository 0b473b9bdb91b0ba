"""The command line: ``microagg``, or ``python -m microagg`` where its script is not on the path."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Run the command line; an interrupt ends it without a traceback, also while it is being loaded."""
    _open_standard_streams()
    message = "interrupted; nothing was written"
    try:
        from microagg.cli.app import main as run

        message = "interrupted"
        run()
    except KeyboardInterrupt:
        sys.stderr.write(f"{message}\n")
        sys.exit(130)


def _open_standard_streams() -> None:
    """Give streams that whoever started the command has closed a place, so that no other file gets it.

    Nothing comes in, what is told is lost, and results are refused: a command must not be taken to have given them.
    """
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        if getattr(sys, name) is None:
            opened = os.open(os.devnull, os.O_WRONLY if name == "stderr" else os.O_RDONLY)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
            setattr(sys, name, os.fdopen(number, mode, encoding="utf-8", closefd=False))


if __name__ == "__main__":
    main()
