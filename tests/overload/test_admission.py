"""Places for answers: a bounded number, tenants in turn, refused at once beyond, none ever lost."""

from __future__ import annotations

import asyncio
import random
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import httpx
import pytest

from helix.overload import admission as module
from helix.overload.admission import Admission, Overloaded
from tests.support.hurried_clients import ShortWork, come_and_leave
from tests.support.live_server import live


class Work:
    """Answers that last until they are told to end, and the order in which they began."""

    def __init__(self, admission: Admission) -> None:
        self.admission = admission
        self.begun: list[str] = []
        self.end = asyncio.Event()

    async def ask(self, tenant: str) -> None:
        async def answer() -> None:
            self.begun.append(tenant)
            await self.end.wait()

        with self.admission.place(tenant) as place:
            await place.run(answer)


async def _begin(work: Work, *tenants: str) -> list[asyncio.Task[None]]:
    tasks = [asyncio.create_task(work.ask(tenant)) for tenant in tenants]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    return tasks


async def test_beyond_the_places_and_the_queue_a_question_is_refused_at_once() -> None:
    work = Work(Admission(most=2, waiting=1))
    tasks = await _begin(work, "a", "a", "a", "a")
    assert work.begun == ["a", "a"]
    with pytest.raises(Overloaded) as refused:
        await tasks[3]
    assert refused.value.status_code == 503
    assert refused.value.headers == {"Retry-After": str(module.RETRY_SECONDS)}
    assert work.admission.is_full
    work.end.set()
    await asyncio.gather(*tasks[:3])
    assert work.begun == ["a", "a", "a"]
    assert not work.admission.is_full


async def test_tenants_take_turns() -> None:
    work = Work(Admission(most=1, waiting=10))
    tasks = await _begin(work, "greedy", *["greedy"] * 4, "small", "other", "small")
    work.end.set()
    await asyncio.gather(*tasks)
    assert work.begun == [
        "greedy", "greedy", "small", "other", "greedy", "small", "greedy", "greedy",
    ]  # fmt: skip


async def test_the_latest_of_a_greedy_tenant_gives_way() -> None:
    work = Work(Admission(most=1, waiting=3))
    tasks = await _begin(work, *["greedy"] * 4, "small")
    with pytest.raises(Overloaded):
        await tasks[3]
    work.end.set()
    await asyncio.gather(*tasks[:3], tasks[4])
    assert Counter(work.begun) == {"greedy": 3, "small": 1}


async def test_one_that_has_just_left_gives_way_too() -> None:
    work = Work(Admission(most=1, waiting=3))
    tasks = await _begin(work, *["greedy"] * 4)
    tasks[3].cancel()
    tasks += await _begin(work, "small")
    work.end.set()
    ended = await asyncio.gather(*tasks, return_exceptions=True)
    assert [type(each).__name__ for each in ended if each] == ["CancelledError"]
    assert Counter(work.begun) == {"greedy": 3, "small": 1}


async def test_no_question_waits_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "WAIT_SECONDS", 0.02)
    work = Work(Admission(most=1, waiting=3))
    tasks = await _begin(work, "a", "b")
    with pytest.raises(Overloaded):
        await tasks[1]
    work.end.set()
    await tasks[0]


async def test_a_stream_holds_its_place_until_it_is_closed() -> None:
    admission = Admission(most=1, waiting=0)
    closed = []

    async def close() -> None:
        closed.append(True)

    async def nothing() -> None: ...

    with admission.place("a") as place:
        await place.run(nothing)
        close_and_leave = place.until(close)
    with pytest.raises(Overloaded):
        await admission.place("a").run(nothing)
    await close_and_leave()
    await close_and_leave()  # a second time gives back nothing more
    assert closed == [True, True]
    with admission.place("a") as place:
        await place.run(nothing)
        with pytest.raises(Overloaded):
            await admission.place("a").run(nothing)


async def test_a_tenant_without_an_answer_under_way_waits_for_none_of_anothers() -> None:
    work = Work(Admission(most=8, waiting=10))
    tasks = await _begin(work, *["greedy"] * 9, "small", "small", "other")
    assert Counter(work.begun) == {"greedy": 8, "small": 1}  # the further place is taken
    work.end.set()
    await asyncio.gather(*tasks)
    again = await _begin(work, *["greedy"] * 9)
    await asyncio.gather(*again)
    assert Counter(work.begun) == {"greedy": 18, "small": 2, "other": 1}


@pytest.mark.parametrize(("per_new", "most_at_once"), [(4, 3), (3, 4)])
@pytest.mark.parametrize("seed", range(20))
async def test_clients_that_leave_at_any_moment_lose_no_place(
    seed: int, per_new: int, most_at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_PLACES_PER_FURTHER", per_new)
    chance = random.Random(seed)
    admission, answer = Admission(most=3, waiting=20), ShortWork(chance)

    async def ask() -> None:
        with admission.place(chance.choice("abc")) as place:
            await place.run(answer)

    await come_and_leave(ask, chance, 100)
    assert 3 <= answer.most_at_once <= most_at_once
    assert answer.at_once == 0
    with ExitStack() as held:
        async with asyncio.timeout(60):
            for _ in range(3):  # every place is there, and nobody waits before us
                await held.enter_context(admission.place("d")).run(answer)
        with pytest.raises(TimeoutError):  # and not one more than they are
            async with asyncio.timeout(0):
                await held.enter_context(admission.place("d")).run(answer)


def test_a_busy_server_refuses_in_plain_words_and_tells_its_probes(
    module_database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    hold = threading.Event()
    started = threading.Semaphore(0)

    async def held(*_: object) -> object:
        started.release()
        while not hold.is_set():
            await asyncio.sleep(0.01)
        raise Overloaded  # the answer itself is not of interest

    monkeypatch.setattr("helix.answering.pipeline.AnswerRequest.run_json", held)
    limits = {"answers": 2, "answers_waiting": 1}
    with live(module_database_url, **limits) as client, ThreadPoolExecutor(8) as threads:

        def ask(_: int) -> httpx.Response:
            return client.post("/v1/query", json={"question": "How long?"})

        answers = [threads.submit(ask, n) for n in range(2)]
        assert all(started.acquire(timeout=10) for _ in range(2))
        waiting = threads.submit(ask, 2)
        while client.get("/readyz").status_code == 200:
            assert not waiting.done()
        refused = ask(3)
        assert (refused.status_code, refused.headers["Retry-After"]) == (503, "2")
        assert "HELIX_ANSWERS" in refused.json()["error"]
        streamed = client.get("/ask", params={"q": "How long?"})
        assert streamed.status_code == 503
        assert client.get("/readyz").json() == {"ready": False, "reason": "overloaded"}
        assert client.get("/healthz").json() == {"ok": True}
        hold.set()
        assert [answer.result().status_code for answer in (*answers, waiting)] == [503] * 3
        assert client.get("/readyz").json() == {"ready": True}
