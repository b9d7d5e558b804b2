"""Ids: of the form that clients know, never given twice, and the same again in a simulation."""

import re
import subprocess
import sys
from threading import Thread

from turnwright.protocol.chance import Chance

FORM = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}")
MANY = 1000
IN_A_FORK = """
import os
from turnwright.protocol.wire import new_id

before = new_id()
child = os.fork()
if child:
    os.waitpid(child, 0)
print(before, *(new_id() for _ in range(200)), flush=True)
"""


def test_an_id_is_a_uuid_of_version_4_each_time_another() -> None:
    chance = Chance()
    ids = [chance.new_id() for _ in range(MANY)]
    assert [id for id in ids if not FORM.fullmatch(id)] == []
    assert len(set(ids)) == MANY


def test_every_digit_of_an_id_that_is_not_fixed_is_drawn() -> None:
    chance = Chance()
    seen = [set(column) for column in zip(*(chance.new_id() for _ in range(MANY)), strict=True)]
    assert [place for place, digits in enumerate(seen) if len(digits) == 1] == [8, 13, 14, 18, 19, 23]
    assert [place for place, digits in enumerate(seen) if len(digits) not in (1, 16)] == []


def test_after_a_seed_ids_are_the_same_again_whatever_was_asked_before() -> None:
    chance = Chance()
    chance.seed(7)
    first = [chance.new_id() for _ in range(MANY)]
    chance.new_id()
    chance.seed(7)
    assert [chance.new_id() for _ in range(MANY)] == first


def test_threads_that_ask_at_once_get_different_ids() -> None:
    chance = Chance()
    ids: list[str] = []
    threads = [Thread(target=lambda: ids.extend(chance.new_id() for _ in range(MANY))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert len(ids) == len(set(ids)) == 8 * MANY


def test_a_forked_child_gives_no_id_that_its_parent_gives() -> None:
    command = [sys.executable, "-c", IN_A_FORK]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=True)
    (before, *parents), (as_before, *childs) = (line.split() for line in done.stdout.splitlines())
    assert before == as_before
    assert set(parents).isdisjoint(childs)
