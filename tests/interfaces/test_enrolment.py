"""foliot worker register, invite, list, disable, enable and remove."""

from pathlib import Path

from tests.interfaces.conftest import Call

BOTH_WAYS = True


def test_a_worker_is_registered_listed_disabled_and_removed(call: Call, elsewhere: Path, actor: str) -> None:
    code, out, err = call("worker", "register", "gpu-1", "--label", "gpu", "--server", "https://foliot.example")

    assert code == 0, err
    assert out.startswith("FOLIOT_SERVER=https://foliot.example\nFOLIOT_WORKER_ID=")
    secret = out.rpartition("FOLIOT_WORKER_SECRET=")[2].strip()
    [listed] = call("worker", "list", "--json").objects
    assert (listed["name"], listed["labels"], listed["state"], listed["created_by"]) == (
        "gpu-1",
        ["gpu"],
        "enrolled",
        actor,
    )
    assert secret not in call("worker", "list", "--json").out + call("audit", "--json").out
    assert call("worker", "disable", "gpu-1") == (0, "disabled gpu-1\n", "")
    assert [one["state"] for one in call("worker", "list", "--json").objects] == ["disabled"]
    assert call("worker", "enable", "gpu-1").out == "enabled gpu-1\n"
    assert call("worker", "remove", "gpu-1").out == "removed gpu-1\n"
    assert "no enrolments" in call("worker", "list").err


def test_a_registration_names_the_server_of_the_configuration(call: Call, elsewhere: Path) -> None:
    file = elsewhere / "foliot.toml"
    storage = ("--storage", f"sqlite:///{elsewhere}/own.db")
    settings = {
        "[server]": "http://127.0.0.1:7070",
        '[server]\nhost = "::1"\nport = 8123\nbase_path = "/jobs"': "http://[::1]:8123/jobs",
        '[server]\npublic_url = "https://foliot.example/"': "https://foliot.example",
    }
    for number, (text, url) in enumerate(settings.items()):
        file.write_text(text)

        _, out, err = call("worker", "register", f"gpu-{number}", *storage)

        assert out.startswith(f"FOLIOT_SERVER={url}\n")
        assert ("for workers on this machine" in err) == ("example" not in url)


def test_an_invitation_has_a_token_and_an_end(call: Call, elsewhere: Path) -> None:
    code, out, err = call("worker", "invite", "gpu-2", "--valid", "5m")

    assert (code, out.startswith("join_fol_")) == (0, True)
    assert "valid once, until" in err
    [listed] = call("worker", "list", "--json").objects
    assert (listed["state"], out.strip() in str(listed)) == ("invited", False)


def test_a_missing_worker_is_named_with_a_similar_one(call: Call, elsewhere: Path) -> None:
    call("worker", "register", "gpu-1")

    refused = call("worker", "disable", "gpu-2")

    assert refused.code == 1
    assert 'Did you mean "gpu-1"?' in refused.err
    assert call("worker", "register", "gpu-1").code == 2
    assert call("worker", "invite", "x", "--valid", "2h").code == 2
