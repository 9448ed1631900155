"""Other packages can add schemes."""

import asyncio
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from foliot.adapters.resolvers.plugins import PluginResolver, WithPlugins, find_plugins
from foliot.errors import InputsRefused, InputsUnavailable, InvalidInput
from tests.adapters.resolvers.resolving import a_request, collected, items

PACKAGE = """
    from foliot.domain.fanout.item import encode_text
    from foliot.errors import InvalidInput

    class Letters:
        def check(self, uri):
            if not uri.removeprefix("letters://"):
                raise InvalidInput("there are no letters")

        async def resolve(self, request):
            for letter in request.uri.removeprefix("letters://"):
                if letter == "!":
                    raise RuntimeError("no letter")
                yield [encode_text(letter.encode())]

    class Broken:
        def __init__(self):
            raise RuntimeError("no driver")
"""


@pytest.fixture
def plugins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, PluginResolver]:
    """Install a package with entry points."""
    (tmp_path / "letters_resolver.py").write_text(dedent(PACKAGE))
    about = tmp_path / "letters_resolver-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: letters-resolver\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(
        "[foliot.resolvers]\n"
        "letters = letters_resolver:Letters\n"
        "broken = letters_resolver:Broken\n"
        "missing = missing_module:Missing\n"
        "file = letters_resolver:Letters\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "letters_resolver", raising=False)
    return find_plugins(["file"], seconds=5)


def test_plug_ins_are_looked_for_when_a_scheme_is_unknown(plugins: dict[str, PluginResolver]) -> None:
    built_in = {"file": plugins["broken"]}
    resolvers = WithPlugins(built_in, seconds=5)

    assert resolvers["file"] is built_in["file"]
    assert isinstance(resolvers["letters"], PluginResolver)
    assert resolvers.get("other") is None
    assert sorted(resolvers) == ["broken", "file", "letters", "missing"]
    assert len(resolvers) == 4


@pytest.mark.proves("R0-49")
async def test_an_installed_package_adds_a_scheme(plugins: dict[str, PluginResolver]) -> None:
    assert await items(plugins["letters"], "letters://abc") == [b"a", b"b", b"c"]


def test_a_scheme_of_foliot_cannot_be_replaced(plugins: dict[str, PluginResolver]) -> None:
    assert sorted(plugins) == ["broken", "letters", "missing"]


def test_nothing_is_imported_before_it_is_used(plugins: dict[str, PluginResolver]) -> None:
    assert "letters_resolver" not in sys.modules


def test_a_plug_in_checks_its_own_texts(plugins: dict[str, PluginResolver]) -> None:
    plugins["letters"].check("letters://abc")

    with pytest.raises(InvalidInput, match="there are no letters"):
        plugins["letters"].check("letters://")


@pytest.mark.parametrize(("scheme", "reason"), [("broken", "RuntimeError: no driver"), ("missing", "missing_module")])
async def test_a_plug_in_that_cannot_be_loaded_fails_its_fanouts(
    plugins: dict[str, PluginResolver], scheme: str, reason: str
) -> None:
    with pytest.raises(InvalidInput, match="could not be loaded"):
        plugins[scheme].check(f"{scheme}://")
    with pytest.raises(InputsUnavailable, match=reason):
        await resolve(plugins[scheme], f"{scheme}://")


async def test_an_error_of_a_plug_in_fails_the_fanout(plugins: dict[str, PluginResolver]) -> None:
    with pytest.raises(InputsUnavailable, match='the resolver for "letters" failed: RuntimeError: no letter'):
        await items(plugins["letters"], "letters://a!")


@pytest.mark.proves("F8")
async def test_limits_apply_to_plug_ins(plugins: dict[str, PluginResolver], monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputsRefused, match="more than 2 items"):
        await items(plugins["letters"], "letters://abc", items=2)

    class Silent:
        def check(self, uri: str) -> None: ...

        async def resolve(self, request: object) -> object:
            await asyncio.Event().wait()
            yield []

    silent = PluginResolver(plugins["letters"]._point, seconds=0.1)
    monkeypatch.setattr(silent, "_resolver", Silent())
    with pytest.raises(InputsUnavailable, match=r"took longer than 0\.1 s"):
        await items(silent, "letters://a")


async def resolve(resolver: PluginResolver, uri: str) -> None:
    await collected(resolver.resolve(a_request(uri)))
