"""Lets `python -m server.cli` stand for `precis`."""

from server.cli.main import main

if __name__ == "__main__":
    main()
