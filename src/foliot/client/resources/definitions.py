"""Definitions as TOML, and imports, by HTTP."""

from collections.abc import Mapping

from foliot.client.request import given_only
from foliot.client.resources.base import Resource
from foliot.service.answers import ImportedCrontab
from foliot.service.queries.definition_view import AppliedText, CheckedText, DefinitionToml


class AsyncDefinitions(Resource):
    """Checks, applies and reads definitions as TOML, and imports crontabs."""

    async def check(self, toml: str) -> CheckedText:
        """Return what a text defines, compared with what is stored, and all problems in it. Nothing is stored."""
        return await self._post(CheckedText, "definitions", "check", body={"toml": toml}, is_keyed=False)

    async def apply(
        self, toml: str, *, pause_new: bool = False, expected: Mapping[str, int] | None = None
    ) -> AppliedText:
        """Store all definitions of a text, or none. Others are not changed.

        `pause_new`: jobs and schedules that it creates are paused. `expected`: the revisions that the change was made
        for, by id, of workflows their versions; 0: it must not exist.
        """
        body = {"toml": toml, "pause_new": pause_new, "expected": dict(expected or {})}
        return await self._post(AppliedText, "definitions", body=body)

    async def job_toml(self, job_id: str) -> DefinitionToml:
        """Return a job, a fanout or a class of chains as TOML, with masked secrets."""
        return await self._get(DefinitionToml, "jobs", job_id, "toml")

    async def workflow_toml(self, workflow_id: str, *, version: int | None = None) -> DefinitionToml:
        """Return a workflow as TOML, with masked secrets."""
        return await self._get(DefinitionToml, "workflows", workflow_id, "toml", version=version)

    async def class_toml(self, class_id: str) -> DefinitionToml:
        """Return a class of chains as TOML, with masked secrets."""
        return await self._get(DefinitionToml, "chain-classes", class_id, "toml")

    async def import_crontab(
        self,
        text: str,
        *,
        dry_run: bool = True,
        paused: bool = True,
        system: bool = False,
        timezone: str | None = None,
        user: str | None = None,
        replace: bool = False,
    ) -> ImportedCrontab:
        """Return what each line of a crontab becomes, and with `dry_run=False` store the jobs.

        `system`: its lines name their users. `replace`: change jobs that exist with the same id and another definition.
        """
        body = {"text": text, "dry_run": dry_run, "paused": paused, "system": system, "replace": replace}
        body |= given_only(timezone=timezone, user=user)
        return await self._post(ImportedCrontab, "import", "crontab", body=body, is_keyed=False)
