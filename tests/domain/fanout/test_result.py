"""Results keep items and outputs exact, in Python and as lines of JSON."""

import json
from typing import Any

import msgspec
import pytest

from foliot.domain.fanout.item import encode_text, encode_value
from foliot.domain.fanout.result import ChildResult, ItemResult, manifest_lines, read_record, record_of, result_of
from foliot.domain.ids import RunId
from foliot.domain.run.run import Status

RUN = RunId("01RUN")
ITEMS: list[Any] = ["a b\n$(x)", "größer ☃", 7, None, {"a": [1, {"b": None}]}, [], {"item_base64": "/w==", "more": 1}]


def a_result(document: bytes, output: bytes | None = None) -> ChildResult:
    return ChildResult(3, RUN, Status.SUCCESS, 0, None, document, output is not None, output)


@pytest.mark.parametrize("item", ITEMS)
def test_an_item_is_the_same_in_python_and_in_a_record(item: Any) -> None:
    child = a_result(encode_value(item), b'{"n":[1.5]}')
    expected = ItemResult(index=3, item=item, status=Status.SUCCESS, output={"n": [1.5]}, exit_code=0, run_id=RUN)

    assert result_of(child) == expected
    assert read_record(json.loads(msgspec.json.encode(record_of(child)))) == expected
    assert json.loads(manifest_lines([child]))["item"] == item


def test_an_item_that_is_not_utf_8_has_a_field_of_its_own() -> None:
    child = a_result(encode_text(b"\xff\xfe"))

    line = json.loads(manifest_lines([child]))

    assert (line["item_base64"], "item" in line) == ("//4=", False)
    assert read_record(json.loads(msgspec.json.encode(record_of(child)))) == result_of(child)


def test_a_manifest_has_one_line_for_each_item_with_a_reference_to_its_output() -> None:
    failed = ChildResult(4, RUN, Status.FAILED, 2, "exit code 2", b'"x"', False)

    lines = manifest_lines([a_result(b'"a\\nb"', b"1"), failed]).splitlines()

    assert [json.loads(line) for line in lines] == [
        {"index": 3, "item": "a\nb", "status": "success", "exit_code": 0, "run_id": RUN, "output": f"run:{RUN}"},
        {"index": 4, "item": "x", "status": "failed", "exit_code": 2, "run_id": RUN, "output": None},
    ]
