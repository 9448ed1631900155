"""The web UI: the files that ui/ is built to, and the one page that loads them.

The page contains no data, so it needs no credentials: it asks the HTTP API, as every other client does. Its files are
in `assets`, which the build of the package fills (hatch_build.py); they are not in the repository.
"""
