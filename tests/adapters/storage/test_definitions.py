"""The definition cache finds definitions by id, and keeps those that the current batch needs."""

from msgspec.json import encode

from foliot.adapters.storage.shared.definition_cache import NO_ROWS, DefinitionRows, Definitions, Reference
from foliot.domain.ids import DefinitionId, JobId
from foliot.testing.builders import a_job_spec


def reference(name: str) -> Reference:
    return Reference(JobId(name), 1, None)


def rows(*names: str) -> DefinitionRows:
    return DefinitionRows({JobId(name): (encode(a_job_spec()).decode(), 1) for name in names}, {}, {})


def read(definitions: Definitions, *names: str) -> None:
    """Find definitions as a claim does: only missing rows are read."""
    references = [reference(name) for name in names]
    missing = definitions.missing(references)
    found = definitions.find(references, rows(*missing.jobs) if missing else NO_ROWS)
    assert found.keys() == {DefinitionId(f"job:{name}@1") for name in names}
    assert [one.definition.error for one in found.values()] == [None] * len(names)


def test_a_cached_definition_is_not_read_again() -> None:
    definitions = Definitions()
    read(definitions, "a", "b")

    assert not definitions.missing([reference("a"), reference("b")])
    assert definitions.missing([reference("c")]).jobs == {"c"}


def test_a_cached_definition_is_not_evicted_by_new_ones_of_the_same_batch() -> None:
    definitions = Definitions(kept=2)
    read(definitions, "a")

    read(definitions, "b", "c", "d", "e", "a")


def test_a_requested_definition_is_not_evicted_by_a_concurrent_claim() -> None:
    definitions = Definitions(kept=3)
    read(definitions, "a")
    asked = [reference("a"), reference("b")]
    missing = definitions.missing(asked)
    read(definitions, "c", "d")

    found = definitions.find(asked, rows(*missing.jobs))

    assert [one.definition.error for one in found.values()] == [None, None]


def test_least_recently_used_definitions_are_evicted() -> None:
    definitions = Definitions(kept=2)
    for name in "abcdef":
        read(definitions, name)

    assert "a" in definitions.missing([reference("a")]).jobs
