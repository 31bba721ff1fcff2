"""The dispatcher: one asyncio process that claims due deliveries, sends them, and writes back what came of them.

Two loops own the database, each with a connection in a thread of its own: one claims, one writes back. Requests fly
between them, so results gather while a loop is busy and go back together. However the process ends, nothing is lost:
what was not written back is still leased, and due again when its lease ends.
"""

import asyncio
import logging
import random
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from time import monotonic

from django.db import InterfaceError, OperationalError

from kernel import clock, http
from kernel.crash import crash_point
from webhooks.services import claiming, settling
from webhooks.services.claiming import Quota
from webhooks.transport import wakeups
from webhooks.types import Claim, Result, Waiting
from webhooks.worker.ending import end
from webhooks.worker.flights import Flights
from webhooks.worker.lanes import Lanes
from webhooks.worker.limits import limits
from webhooks.worker.stops import Stops
from webhooks.worker.threads import DatabaseThread

logger = logging.getLogger(__name__)

_HEARTBEAT_SECONDS = 10.0
_KEPT_LANES = 2_000


class Dispatcher:
    """Sends deliveries until told to stop. Any number of these may run, in any number of processes."""

    def __init__(self) -> None:
        self._limits = limits()
        self._lanes = Lanes(self._limits)
        self._due = asyncio.Event()
        self._landed = asyncio.Event()
        self._stopped = asyncio.Event()
        # Results on their way into the database; with those that wait for it, they take room from claims.
        self._writing = 0
        # Whether something may be due that was left behind, and that a landing makes room for.
        self._left_some = False
        self._beat_at = -_HEARTBEAT_SECONDS

    def stop(self) -> None:
        """Claim nothing more, finish what is in flight, and let `run` return."""
        self._stopped.set()
        self._due.set()

    async def run(self) -> None:
        """Dispatch until `stop`."""
        async with (
            http.Session(connections=self._limits.open) as client,
            DatabaseThread("webhooks-claim") as claims,
            DatabaseThread("webhooks-settle") as settles,
        ):
            stops = Stops(partial(claims.run, claiming.stopped))
            flights = Flights(
                limits=self._limits, lanes=self._lanes, client=client, stops=stops, landed=self._on_landing
            )
            beside = [
                asyncio.create_task(wakeups.listen(self._due.set)),
                asyncio.create_task(flights.watch()),
                asyncio.create_task(self._repeat(self._landed, partial(self._write_back, flights, settles))),
            ]
            try:
                await self._repeat(self._due, partial(self._take, flights, claims))
                await flights.close()
            finally:
                await end(beside)
            await self._finish(flights, settles)

    def _on_landing(self) -> None:
        self._landed.set()
        if self._left_some:
            self._due.set()

    async def _repeat(self, bell: asyncio.Event, work: Callable[[], Awaitable[bool]]) -> None:
        """Do `work` at each ring of `bell` and at each poll, and again at once while it says that there is more."""
        while not self._stopped.is_set() or bell is self._landed:
            bell.clear()
            more = False
            try:
                more = await work()
            except Exception:
                # A loop that ended here would leave the other one sending what nobody writes back.
                logger.exception("a round failed; trying again")
                await asyncio.sleep(self._limits.poll)
            if not more:
                await _ring(bell, self._limits.poll)

    # --- claiming -----------------------------------------------------------------------------------------------

    async def _take(self, flights: Flights, database: DatabaseThread) -> bool:
        """Claim what there is room for, and send it; whether more may be due at once."""
        await self._beat(database)
        # What is not written back is still leased: claiming on beside a busy database would only let leases end.
        room = self._limits.batch - self._lanes.held - self._writing - len(flights.results)
        if room < max(1, self._limits.batch // 4):
            # The bell that led here may have rung for something new: nobody rings for it again.
            self._left_some = True
            return False
        waiting = await database.run(claiming.survey)
        closed = [each.webhook_id for each in waiting if not each.is_open]
        more_closed = bool(closed) and await self._leave(flights, database, closed)
        self._rest(flights, [each.webhook_id for each in waiting if each.is_held])
        ready = [each for each in waiting if each.is_open and not each.is_held]
        quotas = await self._plan(database, ready, room)
        claims: list[Claim] = []
        if quotas:
            leased_at = monotonic()
            claims = await database.run(partial(claiming.claim, quotas=quotas))
            if claims:
                crash_point("webhook.claimed")
            for claim in claims:
                self._lanes.add(claim, leased_at + self._limits.usable)
            flights.launch()
        taken = Counter(claim.webhook_id for claim in claims)
        # Of each endpoint by itself: where one has less than its share, another one may still have more than its own.
        more = any(taken[quota.webhook_id] >= quota.count for quota in quotas if not quota.ordered)
        self._left_some = more or len(quotas) < len(ready)
        return more or more_closed

    def _rest(self, flights: Flights, held: Sequence[str]) -> None:
        """Hand back what is held of workspaces that are stopped; it waits there for the release."""
        for webhook_id in held:
            lane = self._lanes.find(webhook_id)
            if lane is not None:
                flights.hand_back(lane)
        if held:
            self._landed.set()

    async def _plan(self, database: DatabaseThread, waiting: list[Waiting], room: int) -> list[Quota]:
        """A share of the room for each endpoint, within its window; in a new order each time, should room be short."""
        stale = [each.webhook_id for each in waiting if self._is_stale(each)]
        if stale:
            for endpoint in await database.run(partial(claiming.snapshots, webhook_ids=stale)):
                self._lanes.open(endpoint)
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

    async def _leave(self, flights: Flights, database: DatabaseThread, closed: Sequence[str]) -> bool:
        """Hand back what is held for endpoints that may not be called any more, and cancel some of what waits for them;
        whether there may be more."""
        for webhook_id in closed:
            lane = self._lanes.find(webhook_id)
            if lane is not None:
                flights.hand_back(lane)
        self._landed.set()
        return await database.run(partial(claiming.cancel_closed, webhook_ids=closed))

    async def _beat(self, database: DatabaseThread) -> None:
        """Say that a dispatcher lives, and forget endpoints that have been quiet."""
        if monotonic() - self._beat_at >= _HEARTBEAT_SECONDS:
            self._beat_at = monotonic()
            self._lanes.forget_idle(keep=_KEPT_LANES)
            await database.run(claiming.beat)

    # --- writing back -------------------------------------------------------------------------------------------

    async def _write_back(self, flights: Flights, database: DatabaseThread) -> bool:
        """Record what has landed and what is given up. Nothing is dropped when the database is away."""
        if flights.returns:
            returns, flights.returns = flights.returns, []
            try:
                await database.run(partial(claiming.give_back, claims=returns))
            except BaseException:
                flights.returns = returns + flights.returns
                raise
        if flights.results:
            results, flights.results = flights.results, []
            self._writing, held = len(results), results
            crash_point("webhook.before_settle")
            try:
                # Written twice is written once, should this fail: the second time finds no lease with that token.
                held = await self._settle(results, database)
            finally:
                self._writing, flights.results = 0, held + flights.results
            crash_point("webhook.settled")
            if self._left_some:
                self._due.set()
            return len(flights.results) > len(held)
        return False

    async def _settle(self, results: list[Result], database: DatabaseThread) -> list[Result]:
        """Write results; those that have to wait, because somebody holds their deliveries."""
        failing = {lane.endpoint.id for lane in self._lanes if lane.is_failing}
        try:
            held = await database.run(partial(settling.settle, results=results, failing=failing))
        except (OperationalError, InterfaceError):
            raise
        except Exception:
            logger.exception("a batch of results was refused; writing them one by one")
            held = await database.run(partial(_settle_singly, results, failing))
        later = {result.claim.delivery_id for result in held}
        for result in results:
            lane = self._lanes.find(result.claim.webhook_id)
            if result.claim.delivery_id in later:
                continue
            if lane is not None and result.outcome.is_success:
                lane.is_failing = False
            if lane is not None and lane.endpoint.ordered:
                # The next in order can be claimed only now.
                self._due.set()
        return held

    async def _finish(self, flights: Flights, database: DatabaseThread) -> None:
        try:
            await self._write_back(flights, database)
        except Exception:
            logger.exception("the last results could not be written; their leases will end by themselves")


async def _ring(bell: asyncio.Event, seconds: float) -> None:
    """Wait for a bell, at most for so long."""
    try:
        async with asyncio.timeout(seconds):
            await bell.wait()
    except TimeoutError:
        pass


def _settle_singly(results: Sequence[Result], failing: set[str]) -> list[Result]:
    held: list[Result] = []
    for result in results:
        try:
            held += settling.settle(results=[result], failing=failing)
        except (OperationalError, InterfaceError):
            raise
        except Exception:
            # Its lease ends, and it is sent again; the others of its batch are innocent.
            logger.exception("a result cannot be written", extra={"delivery": result.claim.delivery_id})
    return held
