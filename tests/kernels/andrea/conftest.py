"""A text to train on."""

import pytest

from tests.kernels.andrea.training import TEXT


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("corpus") / "text.txt"
    file.write_text(TEXT)
    return str(file)
