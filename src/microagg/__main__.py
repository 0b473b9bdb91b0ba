"""The command line: ``microagg``, or ``python -m microagg`` where its script is not on the path."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line; an interrupt ends it without a traceback, also while it is being loaded."""
    message = "interrupted; nothing was written"
    try:
        from microagg.cli.app import main as run

        message = "interrupted"
        run()
    except KeyboardInterrupt:
        sys.stderr.write(f"{message}\n")
        sys.exit(130)


if __name__ == "__main__":
    main()
