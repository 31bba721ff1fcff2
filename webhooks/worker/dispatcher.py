"""The dispatcher: one asyncio process that claims due deliveries, sends them, and writes back what came of them.

One loop owns the database, through one thread: write back, survey, claim. Requests fly beside it and ring its bell when
they land, so results gather while the loop is busy and go back together. However it ends, nothing is lost: what was
not written back is still leased, and due again when its lease ends.
"""

import asyncio
import logging
import random
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from time import monotonic
from typing import TypeVar
from uuid import UUID

import aiohttp
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import DatabaseError, InterfaceError, OperationalError, connections

from kernel import clock
from kernel.crash import crash_point
from kernel.models import Heartbeat
from webhooks.services import claiming, judging, settling
from webhooks.services.claiming import Quota
from webhooks.transport import sender, signing, wakeups
from webhooks.types import Claim, Outcome, Result, Waiting
from webhooks.worker.lanes import Lane, Lanes

logger = logging.getLogger(__name__)

T = TypeVar("T")

# A request that is open for longer gives its place in WEBHOOK_CONCURRENCY to another one: it costs only a socket.
_SLOW_SECONDS = 1.0
# So many requests may be open in all, as a multiple of WEBHOOK_CONCURRENCY.
_OPEN_FACTOR = 8
# Between the end of a request's time and the end of its lease, for writing it back.
_LEASE_MARGIN_SECONDS = 1.0
_HEARTBEAT_SECONDS = 10.0
_KEPT_LANES = 2_000


@dataclass(slots=True, eq=False)
class Flight:
    """One request in flight."""

    lane: Lane
    claim: Claim
    is_slow: bool = False


class Dispatcher:
    """Sends deliveries until told to stop. Any number of these may run, in any number of processes."""

    def __init__(self) -> None:
        if settings.WEBHOOK_LEASE_SECONDS < settings.WEBHOOK_TIMEOUT_SECONDS + 2 * _LEASE_MARGIN_SECONDS:
            raise ImproperlyConfigured(
                "WEBHOOK_LEASE_SECONDS must exceed WEBHOOK_TIMEOUT_SECONDS by 2 seconds or more."
            )
        self._lanes = Lanes()
        self._bell = asyncio.Event()
        self._is_stopping = False
        self._results: list[Result] = []
        self._returns: list[tuple[Claim, float]] = []
        self._flights: set[asyncio.Task[None]] = set()
        self._quick = 0
        self._beat_at = 0.0
        self._database = ThreadPoolExecutor(1, thread_name_prefix="webhooks-database")

    def stop(self) -> None:
        """Claim nothing more, finish what is in flight, and let `run` return."""
        self._is_stopping = True
        self._bell.set()

    async def run(self) -> None:
        """Dispatch until `stop`."""
        listener = asyncio.create_task(wakeups.listen(self._bell.set))
        async with sender.session(connections=settings.WEBHOOK_CONCURRENCY * _OPEN_FACTOR) as client:
            try:
                while not self._is_stopping:
                    await self._rest(await self._round(client))
                await self._wind_down()
            finally:
                listener.cancel()
                await asyncio.gather(listener, return_exceptions=True)
                await self._in_database(connections.close_all)
                self._database.shutdown()

    async def _round(self, client: aiohttp.ClientSession) -> float:
        """Write back, claim, send; how long there is nothing more to do unless the bell rings."""
        self._bell.clear()
        try:
            await self._write_back()
            await self._beat()
            more = await self._take(client)
        except (DatabaseError, InterfaceError):
            logger.exception("the database is not reachable; trying again")
            await asyncio.sleep(settings.WEBHOOK_POLL_SECONDS)
            return 0.0
        return 0.0 if more else settings.WEBHOOK_POLL_SECONDS

    async def _rest(self, seconds: float) -> None:
        if seconds:
            try:
                async with asyncio.timeout(seconds):
                    await self._bell.wait()
            except TimeoutError:
                pass

    # --- claiming -----------------------------------------------------------------------------------------------

    async def _take(self, client: aiohttp.ClientSession) -> bool:
        """Claim what there is room for; whether more may be due at once."""
        room = settings.WEBHOOK_BATCH - self._lanes.held
        if room < max(1, settings.WEBHOOK_BATCH // 4):
            return False
        waiting = await self._in_database(claiming.survey)
        closed = [each.webhook_id for each in waiting if not each.is_open]
        if closed:
            self._drop(closed)
            await self._in_database(partial(claiming.cancel_closed, webhook_ids=closed))
        quotas = await self._plan([each for each in waiting if each.is_open], room)
        if not quotas:
            return False
        leased_at = monotonic()
        claims = await self._in_database(partial(claiming.claim, quotas=quotas))
        spare = settings.WEBHOOK_LEASE_SECONDS - settings.WEBHOOK_TIMEOUT_SECONDS - _LEASE_MARGIN_SECONDS
        for claim in claims:
            self._lanes.add(claim, leased_at + spare)
        self._launch(client)
        return len(claims) >= sum(quota.count for quota in quotas)

    async def _plan(self, waiting: list[Waiting], room: int) -> list[Quota]:
        """A share of the room for each endpoint, within its window; in a new order each time, should room be short."""
        await self._refresh([each for each in waiting if self._is_stale(each)])
        random.shuffle(waiting)
        share = max(1, room // max(1, len(waiting)))
        quotas: list[Quota] = []
        for each in waiting:
            lane = self._lanes.knows(each.webhook_id)
            if lane is None:
                continue
            lane.is_failing = lane.is_failing or each.is_failing
            count = min(lane.quota(), share, room)
            if count > 0:
                room -= count
                quotas.append(Quota(each.webhook_id, count, lane.endpoint.ordered, lane.endpoint.rate_per_second))
        return quotas

    def _is_stale(self, waiting: Waiting) -> bool:
        lane = self._lanes.knows(waiting.webhook_id)
        if lane is None or lane.endpoint.updated_at != waiting.updated_at:
            return True
        return lane.endpoint.good_until is not None and lane.endpoint.good_until <= clock.now()

    async def _refresh(self, stale: list[Waiting]) -> None:
        if stale:
            ids = [each.webhook_id for each in stale]
            found = await self._in_database(partial(claiming.snapshots, webhook_ids=ids))
            for endpoint in found.values():
                self._lanes.open(endpoint)

    def _drop(self, closed: Sequence[UUID]) -> None:
        """Hand back what is held for endpoints that may not be called any more."""
        for webhook_id in closed:
            lane = self._lanes.knows(webhook_id)
            if lane is not None:
                self._hand_back(lane, 0.0)

    def _hand_back(self, lane: Lane, delay: float) -> None:
        self._returns += [(claim, delay) for claim, _ in lane.queue]
        lane.queue.clear()

    # --- sending ------------------------------------------------------------------------------------------------

    def _launch(self, client: aiohttp.ClientSession) -> None:
        """Send what may be sent now."""
        most = settings.WEBHOOK_CONCURRENCY
        while self._quick < most and len(self._flights) < most * _OPEN_FACTOR and not self._is_stopping:
            turn = self._lanes.next()
            if turn is None:
                return
            lane, claim, usable_until = turn
            if monotonic() > usable_until:
                # The lease might end before the answer comes, and the delivery be sent twice at once.
                lane.flying -= 1
                self._returns.append((claim, 0.0))
                continue
            self._quick += 1
            task = asyncio.create_task(self._fly(client, Flight(lane, claim)))
            self._flights.add(task)
            task.add_done_callback(self._flights.discard)

    async def _fly(self, client: aiohttp.ClientSession, flight: Flight) -> None:
        timer = asyncio.get_running_loop().call_later(_SLOW_SECONDS, self._let_pass, client, flight)
        outcome: Outcome | None = None
        try:
            outcome = await self._attempt(client, flight)
        except Exception:
            # A fault of ours must not strand the lease in silence; the delivery is retried like any failure.
            logger.exception("an attempt broke", extra={"delivery": flight.claim.delivery_id})
            outcome = Outcome(None, error="The attempt broke off inside the dispatcher.")
        finally:
            timer.cancel()
            self._land(flight, outcome)
            self._launch(client)

    async def _attempt(self, client: aiohttp.ClientSession, flight: Flight) -> Outcome:
        endpoint, claim = flight.lane.endpoint, flight.claim
        if endpoint.fault:
            return Outcome(None, error=endpoint.fault)
        signed = signing.headers(
            keys=endpoint.secrets,
            message_id=str(claim.event_id),
            timestamp=int(clock.now().timestamp()),
            body=claim.body,
        )
        crash_point("webhook.before_send")
        outcome = await sender.post(
            client,
            url=endpoint.url,
            headers={**endpoint.headers, **signed},
            body=claim.body,
            deadline=settings.WEBHOOK_TIMEOUT_SECONDS,
        )
        crash_point("webhook.after_send")
        return outcome

    def _let_pass(self, client: aiohttp.ClientSession, flight: Flight) -> None:
        """A request turned out slow: its place goes to another endpoint's."""
        flight.is_slow = True
        self._quick -= 1
        flight.lane.narrow()
        self._launch(client)

    def _land(self, flight: Flight, outcome: Outcome | None) -> None:
        lane = flight.lane
        lane.flying -= 1
        if not flight.is_slow:
            self._quick -= 1
        if outcome is not None:
            self._results.append(Result(flight.claim, outcome))
            self._learn(lane, outcome, is_slow=flight.is_slow)
        self._lanes.list(lane)
        self._bell.set()

    def _learn(self, lane: Lane, outcome: Outcome, *, is_slow: bool) -> None:
        """Trust the endpoint with more, or with less; leave it alone for as long as it asks."""
        if outcome.is_success:
            if not is_slow:
                lane.widen()
            return
        lane.is_failing = True
        lane.narrow()
        pause = judging.asked_pause(outcome)
        if pause:
            lane.rests_until = monotonic() + pause
            self._hand_back(lane, pause)

    # --- writing back -------------------------------------------------------------------------------------------

    async def _write_back(self) -> None:
        if self._returns:
            returns, self._returns = self._returns, []
            await self._in_database(partial(claiming.give_back, claims=returns))
        if not self._results:
            return
        results, self._results = self._results, []
        failing = {lane.endpoint.id for lane in self._lanes if lane.is_failing}
        try:
            await self._in_database(partial(settling.settle, results=results, failing=failing))
        except (OperationalError, InterfaceError):
            self._results = results + self._results
            raise
        except DatabaseError:
            logger.exception("a batch of results was refused; writing them one by one")
            await self._in_database(partial(_settle_singly, results, failing))
        for result in results:
            lane = self._lanes.knows(result.claim.webhook_id)
            if lane is not None and result.outcome.is_success:
                lane.is_failing = False

    async def _beat(self) -> None:
        """Say that a dispatcher lives, and forget endpoints that have been quiet."""
        if monotonic() - self._beat_at >= _HEARTBEAT_SECONDS:
            self._beat_at = monotonic()
            self._lanes.forget_idle(keep=_KEPT_LANES)
            await self._in_database(_beat)

    async def _wind_down(self) -> None:
        """Hand back what has not been sent, wait a little for what has, and write it all back."""
        for lane in self._lanes:
            self._hand_back(lane, 0.0)
        if self._flights:
            await asyncio.wait(self._flights, timeout=settings.WEBHOOK_STOP_SECONDS)
        for task in self._flights:
            task.cancel()
        await asyncio.gather(*self._flights, return_exceptions=True)
        try:
            await self._write_back()
        except (DatabaseError, InterfaceError):
            logger.exception("the last results could not be written; their leases will end by themselves")

    async def _in_database(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._database, partial(_guarded, work))


def _guarded(work: Callable[[], T]) -> T:
    """Run in the database's thread; a broken connection is dropped, so that the next call opens a new one."""
    try:
        return work()
    except (OperationalError, InterfaceError):
        connections["default"].close()
        raise


def _settle_singly(results: Sequence[Result], failing: set[UUID]) -> None:
    for result in results:
        try:
            settling.settle(results=[result], failing=failing)
        except DatabaseError:
            logger.exception("a result cannot be written", extra={"delivery": result.claim.delivery_id})


def _beat() -> None:
    Heartbeat.objects.update_or_create(name="webhooks", defaults={"at": clock.now()})
