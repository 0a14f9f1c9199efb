"""The documents that the package brings."""

from fluxx.extractors.samples import UNREADABLE, sample_files


def test_the_samples_are_there_and_small() -> None:
    assert {path.suffix for path in sample_files()} == {".pdf", ".xlsx"}
    assert all(0 < path.stat().st_size < 100_000 for path in sample_files())


def test_what_is_called_unreadable_is_one_of_them() -> None:
    assert {path.name for path in sample_files()} > UNREADABLE
