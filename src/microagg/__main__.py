"""``python -m microagg``: the command line, where its script is not on the path."""

from microagg.cli.app import main

if __name__ == "__main__":
    main()
