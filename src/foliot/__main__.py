"""`python -m foliot`: the command line, also where its script is not on the path."""

from foliot.interfaces.cli import main

if __name__ == "__main__":
    main()
