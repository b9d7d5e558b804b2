"""The official Python client's parser takes every event that we emit."""

import json

import pytest
from copilot.session_events import RawSessionEventData, SessionEvent

from tests.client.event_samples import ID, SAMPLES
from turnwright.protocol.envelope import seal
from turnwright.protocol.events import EVENTS, Data

NEWER_TO_IT = {"session.usage_record", "session.renamed"}
"""Types that its version passes on as they are, as it does our own."""


OF_OURS = {"session.file_captured", "session.state_record"}


def test_there_is_a_sample_of_every_type() -> None:
    assert {sample.event_type for sample in SAMPLES} == set(EVENTS)


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.event_type)
def test_an_event_is_taken_with_its_type_and_its_envelope(sample: Data) -> None:
    ours = seal(sample, parent_id=ID, agent_id="agent")
    theirs = SessionEvent.from_dict(json.loads(ours.encoded))
    known = not isinstance(theirs.data, RawSessionEventData)
    assert known == (sample.event_type not in NEWER_TO_IT | OF_OURS)
    assert theirs.type.value == (sample.event_type if known else "unknown")
    assert (str(theirs.id), str(theirs.parent_id), theirs.agent_id) == (ours.id, ID, "agent")
    assert bool(theirs.ephemeral) == ours.ephemeral
