"""What every test can rely on."""

from hypothesis import settings

pytest_plugins = ["pytester", "tests.architecture.proofs", "tests.architecture.skips"]

# A slow machine is no fault of the code: how long an example takes is for the benchmarks to judge.
settings.register_profile("foliot", deadline=None, print_blob=True)
settings.load_profile("foliot")
