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
from functools import partial
from time import monotonic
from typing import TypeVar

from django.db import DatabaseError, InterfaceError, OperationalError, connections

from kernel import clock
from kernel.models import Heartbeat
from webhooks.services import claiming, settling
from webhooks.services.claiming import Quota
from webhooks.transport import sender, wakeups
from webhooks.types import Result, Waiting
from webhooks.worker.flights import Flights
from webhooks.worker.lanes import Lanes
from webhooks.worker.limits import limits

logger = logging.getLogger(__name__)

T = TypeVar("T")

_HEARTBEAT_SECONDS = 10.0
_KEPT_LANES = 2_000


class Dispatcher:
    """Sends deliveries until told to stop. Any number of these may run, in any number of processes."""

    def __init__(self) -> None:
        self._limits = limits()
        self._lanes = Lanes(self._limits)
        self._bell = asyncio.Event()
        self._is_stopping = False
        self._beat_at = -_HEARTBEAT_SECONDS
        self._database = ThreadPoolExecutor(1, thread_name_prefix="webhooks-database")

    def stop(self) -> None:
        """Claim nothing more, finish what is in flight, and let `run` return."""
        self._is_stopping = True
        self._bell.set()

    async def run(self) -> None:
        """Dispatch until `stop`."""
        async with sender.session(connections=self._limits.open) as client:
            flights = Flights(limits=self._limits, lanes=self._lanes, client=client, landed=self._bell.set)
            beside = [asyncio.create_task(wakeups.listen(self._bell.set)), asyncio.create_task(flights.watch())]
            try:
                while not self._is_stopping:
                    await self._rest(await self._round(flights))
                await self._wind_down(flights)
            finally:
                for task in beside:
                    task.cancel()
                await asyncio.gather(*beside, return_exceptions=True)
                await self._in_database(connections.close_all)
                self._database.shutdown()

    async def _round(self, flights: Flights) -> float:
        """Write back, claim, send; how many seconds there is nothing more to do unless the bell rings."""
        self._bell.clear()
        try:
            await self._write_back(flights)
            await self._beat()
            more = await self._take(flights)
        except (DatabaseError, InterfaceError):
            logger.exception("the database refused; trying again")
            await asyncio.sleep(self._limits.poll)
            return 0.0
        return 0.0 if more else self._limits.poll

    async def _rest(self, seconds: float) -> None:
        if seconds:
            try:
                async with asyncio.timeout(seconds):
                    await self._bell.wait()
            except TimeoutError:
                pass

    async def _take(self, flights: Flights) -> bool:
        """Claim what there is room for, and send it; whether more may be due at once."""
        room = self._limits.batch - self._lanes.held
        if room < max(1, self._limits.batch // 4):
            return False
        waiting = await self._in_database(claiming.survey)
        closed = [each.webhook_id for each in waiting if not each.is_open]
        if closed:
            self._leave(flights, closed)
            await self._in_database(partial(claiming.cancel_closed, webhook_ids=closed))
        quotas = await self._plan([each for each in waiting if each.is_open], room)
        if not quotas:
            return False
        leased_at = monotonic()
        claims = await self._in_database(partial(claiming.claim, quotas=quotas))
        for claim in claims:
            self._lanes.add(claim, leased_at + self._limits.usable)
        flights.launch()
        return len(claims) >= sum(quota.count for quota in quotas)

    async def _plan(self, waiting: list[Waiting], room: int) -> list[Quota]:
        """A share of the room for each endpoint, within its window; in a new order each time, should room be short."""
        await self._refresh([each for each in waiting if self._is_stale(each)])
        random.shuffle(waiting)
        share = max(1, room // max(1, len(waiting)))
        quotas: list[Quota] = []
        for each in waiting:
            lane = self._lanes.find(each.webhook_id)
            if lane is None:
                continue
            lane.is_failing = lane.is_failing or each.is_failing
            count = min(lane.quota(), share, room)
            if count > 0:
                room -= count
                quotas.append(Quota(each.webhook_id, count, lane.endpoint.ordered, lane.endpoint.rate_per_second))
        return quotas

    def _is_stale(self, waiting: Waiting) -> bool:
        lane = self._lanes.find(waiting.webhook_id)
        if lane is None or lane.endpoint.updated_at != waiting.updated_at:
            return True
        return lane.endpoint.good_until is not None and lane.endpoint.good_until <= clock.now()

    async def _refresh(self, stale: list[Waiting]) -> None:
        if stale:
            ids = [each.webhook_id for each in stale]
            for endpoint in await self._in_database(partial(claiming.snapshots, webhook_ids=ids)):
                self._lanes.open(endpoint)

    def _leave(self, flights: Flights, closed: Sequence[str]) -> None:
        """Hand back what is held for endpoints that may not be called any more."""
        for webhook_id in closed:
            lane = self._lanes.find(webhook_id)
            if lane is not None:
                flights.hand_back(lane)

    async def _write_back(self, flights: Flights) -> None:
        if flights.returns:
            returns, flights.returns = flights.returns, []
            await self._in_database(partial(claiming.give_back, claims=returns))
        if not flights.results:
            return
        results, flights.results = flights.results, []
        failing = {lane.endpoint.id for lane in self._lanes if lane.is_failing}
        try:
            await self._in_database(partial(settling.settle, results=results, failing=failing))
        except (OperationalError, InterfaceError):
            flights.results = results + flights.results
            raise
        except DatabaseError:
            logger.exception("a batch of results was refused; writing them one by one")
            await self._in_database(partial(_settle_singly, results, failing))
        for result in results:
            lane = self._lanes.find(result.claim.webhook_id)
            if lane is not None and result.outcome.is_success:
                lane.is_failing = False

    async def _beat(self) -> None:
        """Say that a dispatcher lives, and forget endpoints that have been quiet."""
        if monotonic() - self._beat_at >= _HEARTBEAT_SECONDS:
            self._beat_at = monotonic()
            self._lanes.forget_idle(keep=_KEPT_LANES)
            await self._in_database(_beat)

    async def _wind_down(self, flights: Flights) -> None:
        await flights.close()
        try:
            await self._write_back(flights)
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


def _settle_singly(results: Sequence[Result], failing: set[str]) -> None:
    for result in results:
        try:
            settling.settle(results=[result], failing=failing)
        except DatabaseError:
            logger.exception("a result cannot be written", extra={"delivery": result.claim.delivery_id})


def _beat() -> None:
    Heartbeat.objects.update_or_create(name="webhooks", defaults={"at": clock.now()})
