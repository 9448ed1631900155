"""foliot doctor: a list of checks, what to do, and an exit code."""

import asyncio
from datetime import UTC, datetime
from pathlib import Path
from typing import get_args

import pytest

from foliot import Foliot
from foliot.config import written_secrets
from foliot.errors import Severity
from foliot.interfaces.cli.render.doctor import finding_hint, finding_text
from foliot.service.queries.doctor import findings as kinds
from foliot.service.queries.doctor.findings import Finding
from foliot.service.queries.status import JobsFailing
from tests.interfaces.conftest import Call
from tests.interfaces.serving import started

REFERENCE = Path(__file__).parents[2] / "docs" / "reference" / "cli.md"
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def test_a_missing_database_is_a_finding_with_what_to_do(call: Call) -> None:
    code, out, err = call("doctor")

    assert (code, err) == (2, "")
    assert "\nstorage        error\n  error: there is no Foliot database at" in out
    assert "    Create it with: foliot migrate" in out
    assert out.endswith("1 error, 0 warnings\n")


def test_the_configuration_is_checked_also_if_there_is_no_database(call: Call, elsewhere: Path) -> None:
    (elsewhere / "foliot.toml").write_text(
        '[server]\ncolour = "red"\n[storage]\nurl = "postgresql://me:hush@localhost:1/x"\n'
    )
    (elsewhere / "foliot.toml").chmod(0o644)

    [document] = call("doctor", "--json").objects

    checks = {check["name"]: check for check in document["checks"]}
    assert (document["severity"], checks["configuration"]["severity"]) == ("error", "error")
    [problem] = checks["configuration"]["findings"]
    assert (problem["code"], problem["line"]) == ("config_problem", 2)
    [exposed] = checks["files"]["findings"]
    assert (exposed["code"], exposed["severity"], exposed["keys"]) == (
        "secrets_readable",
        "warning",
        ["storage.url"],
    )
    assert "hush" not in str(document)


def test_doctor_works_without_a_server(call: Call, shop: Path) -> None:
    (shop / "foliot.db").chmod(0o644)

    code, out, err = call("doctor")

    assert (code, err) == (2, "")
    assert "error: no scheduler is alive: schedules do not fire\n    Start one with: foliot serve" in out
    assert "warning: every user can read the database" in out
    assert "warning: 1 job failing: broken" in out
    assert "time zones     ok" in out


def test_a_served_database_has_no_problems(call: Call, url: str) -> None:
    async def look() -> tuple[int, str]:
        app = Foliot(url)
        app.shell("report", "true")
        async with app, started(app):
            for _ in range(100):
                called = await asyncio.to_thread(call, "doctor", "--storage", url)
                if called.code == 0:  # the scheduler leads after its first round
                    break
                await asyncio.sleep(0.1)
            return called.code, called.out

    code, out = asyncio.run(look())

    assert code == 0, out
    assert out.endswith("no problems found\n")


def test_warnings_have_their_own_exit_code(call: Call, elsewhere: Path, url: str) -> None:
    (elsewhere / "foliot.toml").write_text('[[jobs]]\nid = "a"\ncommand = "true"\nenv = { TOKEN = "hush" }\n')
    (elsewhere / "foliot.toml").chmod(0o644)

    async def look() -> int:
        app = Foliot(url)
        async with app, started(app):
            for _ in range(100):
                called = await asyncio.to_thread(call, "doctor", "--storage", url)
                if called.code != 2:
                    break
                await asyncio.sleep(0.1)
            return called.code

    assert asyncio.run(look()) == 1


def test_an_invalid_storage_is_a_usage_error(call: Call) -> None:
    code, out, err = call("doctor", "--storage", "mysql://x")

    assert (code, out) == (2, "")
    assert "is not a supported database" in err


FINDINGS: tuple[Finding, ...] = (
    kinds.ConfigProblem(file="a.toml", line=3, key="x", message="m", hint="h", severity=Severity.ERROR),
    kinds.SecretsReadable(file="a.toml", keys=("x",)),
    kinds.DatabaseReadable(file="a.db"),
    kinds.GuardOff(),
    kinds.FewDescriptors(allowed=9, enough_for=0, slots=5, is_server=False),
    kinds.LimitsPerProcess(jobs=("a",), missing=("memory",), is_server=True),
    kinds.ProgramMissing(program="claude", jobs=("a",)),
    kinds.ProbeFailed(message="m", hint="h"),
    kinds.StorageReadOnly(message="m", hint="h"),
    kinds.StorageDamaged(damages=("page 3",)),
    kinds.LogsLarge(size=2 << 30),
    kinds.WorkersLost(workers=("north",), running=2),
    kinds.RunsLong(runs=(kinds.LongRun(run_id="r", job_id="j", started_at=NOON),)),
    kinds.RowsUnreadable(rows=("job x",), count=1),
    kinds.TicksMoved(tzdata="2026a", ticks=(kinds.MovedTick(schedule_id="s", stored=NOON, now=None),), count=1),
    JobsFailing(count=1, jobs=("a",)),
)


@pytest.mark.parametrize("finding", FINDINGS, ids=lambda finding: type(finding).__name__)
def test_every_finding_has_a_text_and_says_what_to_do(finding: Finding) -> None:
    assert finding_text(finding)
    assert finding_hint(finding)


def test_every_finding_is_in_the_reference() -> None:
    page = REFERENCE.read_text()

    codes = [kind.__struct_config__.tag for kind in get_args(kinds.Finding)]

    assert [code for code in codes if f"| `{code}` |" not in page] == []


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ('[server]\nadmin_token = "abc"', ["server.admin_token"]),
        ('[server]\nadmin_token = "${TOKEN}"\nname = "token"', []),
        ('[storage]\nurl = "postgresql://me:pw@host/db"', ["storage.url"]),
        ('[storage]\nurl = "postgresql://me@host/db"', []),
        ('[[jobs]]\nid = "a"\nenv = { DB_PASSWORD = "x", LANG = "C" }', ["jobs.env.DB_PASSWORD"]),
        ("not toml", []),
    ],
)
def test_secrets_in_a_file_are_recognised(tmp_path: Path, text: str, keys: list[str]) -> None:
    path = tmp_path / "a.toml"
    path.write_text(text)

    assert written_secrets(path) == keys
    assert written_secrets(tmp_path / "missing.toml") == []
