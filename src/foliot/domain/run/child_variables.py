"""The environment variables of a run that has a parent: who the parent is, and, in a fanout, the item."""

from collections.abc import Mapping

from foliot.domain.fanout.item import item_bytes
from foliot.domain.job.definition import Definition
from foliot.domain.run.lease import Claim


def child_variables(claim: Claim, definition: Definition) -> Mapping[str, str]:
    """Return the variables in addition to those of the job. Bytes that are not UTF-8 are escaped as in `os.environ`."""
    parent, key = claim.parent_id or "", claim.child_key or ""
    # The second name is for scripts that were written for CronLord.
    parents = {"FOLIOT_PARENT_RUN_ID": parent, "CRONLORD_PARENT_RUN_ID": parent, **definition.variables}
    item = definition.item
    if item is None:
        return {"FOLIOT_EXECUTION_ID": parent, "FOLIOT_STEP": key, **parents}
    value = item_bytes(claim.payload or b"null").decode(errors="surrogateescape")
    return {item.name: value, "FOLIOT_ITEM_INDEX": str(int(key)), "FOLIOT_ITEM_COUNT": str(item.count), **parents}
