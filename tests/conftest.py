"""One thread for the many tiny problems; the tests of threads set their own number."""

import numba
import pytest
from hypothesis import settings

# A machine may be busy: how long an example takes says nothing.
settings.register_profile("pygeco", deadline=None)
settings.load_profile("pygeco")


@pytest.fixture(autouse=True)
def _one_thread():
    before = numba.get_num_threads()
    numba.set_num_threads(1)
    yield
    numba.set_num_threads(before)
