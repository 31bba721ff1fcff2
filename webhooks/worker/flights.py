"""The requests of a dispatcher: sent in turn, watched for slowness, landed as results."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic

from kernel import clock, http
from kernel.crash import crash_point
from webhooks.services import judging
from webhooks.transport import sender, signing
from webhooks.types import Claim, Outcome, Result
from webhooks.worker.ending import end
from webhooks.worker.lanes import Lane, Lanes
from webhooks.worker.limits import Limits
from webhooks.worker.stops import Stops

logger = logging.getLogger(__name__)

# A request that is open for longer gives its place in WEBHOOK_CONCURRENCY to another one: it costs only a socket.
_SLOW_SECONDS = 1.0
_WATCH_SECONDS = 0.25


@dataclass(slots=True, eq=False)
class Flight:
    """One request in flight."""

    lane: Lane
    claim: Claim
    began: float
    is_slow: bool = False


class Flights:
    """Sends what the lanes hold. `landed` is called after each landing; results and returns gather here meanwhile."""

    def __init__(
        self, *, limits: Limits, lanes: Lanes, client: http.Session, stops: Stops, landed: Callable[[], None]
    ) -> None:
        self.results: list[Result] = []
        self.returns: list[tuple[Claim, float]] = []
        self._limits = limits
        self._lanes = lanes
        self._client = client
        self._stops = stops
        self._landed = landed
        self._open: set[Flight] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._quick = 0
        self._is_closed = False

    def launch(self) -> None:
        """Send what may be sent now."""
        while flight := self._next():
            task = asyncio.create_task(self._pilot(flight))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    def hand_back(self, lane: Lane, delay: float = 0.0) -> None:
        """Give up what a lane holds unsent; it is due again after `delay` seconds."""
        self.returns += [(claim, delay) for claim, _ in lane.queue]
        lane.queue.clear()

    async def watch(self) -> None:
        """Let others pass requests that turned out slow; until cancelled."""
        while True:
            await asyncio.sleep(_WATCH_SECONDS)
            limit = monotonic() - _SLOW_SECONDS
            for flight in self._open:
                if flight.began < limit and not flight.is_slow:
                    flight.is_slow = True
                    self._quick -= 1
                    flight.lane.narrow()
            self.launch()

    async def close(self) -> None:
        """Send nothing more; wait a little for what is in flight, then give it up to its leases."""
        self._is_closed = True
        for lane in self._lanes:
            self.hand_back(lane)
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=self._limits.stop)
        await end(set(self._tasks))

    def _next(self) -> Flight | None:
        """The next request, when there is a place for it."""
        while self._quick < self._limits.concurrency and len(self._open) < self._limits.open and not self._is_closed:
            turn = self._lanes.next()
            if turn is None:
                return None
            lane, claim, usable_until = turn
            now = monotonic()
            if now <= usable_until:
                flight = Flight(lane, claim, began=now)
                self._quick += 1
                self._open.add(flight)
                return flight
            # The lease might end before the answer comes, and the delivery be sent twice at once.
            lane.flying -= 1
            self.returns.append((claim, 0.0))
        return None

    async def _pilot(self, first: Flight) -> None:
        """Fly, and fly again while there is something to send: a task for each request would cost more."""
        flight: Flight | None = first
        while flight is not None:
            outcome: Outcome | None = None
            try:
                outcome = await self._attempt(flight)
                if outcome is None:
                    self.returns.append((flight.claim, 0.0))
            except Exception:
                # A fault of ours must not strand the lease in silence; the delivery is retried like any failure.
                logger.exception("an attempt broke", extra={"delivery": flight.claim.delivery_id})
                outcome = Outcome(None, error="The attempt broke off inside the dispatcher.")
            finally:
                self._land(flight, outcome)
            flight = self._next()

    async def _attempt(self, flight: Flight) -> Outcome | None:
        """What came of it; None when the workspace was stopped and nothing was tried."""
        lane, claim = flight.lane, flight.claim
        endpoint = lane.endpoint
        if endpoint.fault:
            return Outcome(None, error=endpoint.fault)
        signed = signing.headers(
            signers=lane.signers,
            message_id=claim.event_id,
            timestamp=int(clock.now().timestamp()),
            body=claim.body,
        )
        crash_point("webhook.before_send")
        if not await self._stops.let(claim.workspace_id):
            return None
        outcome = await sender.post(
            self._client,
            url=endpoint.url,
            headers=lane.headers | signed,
            body=claim.body,
            deadline=self._limits.timeout,
        )
        crash_point("webhook.after_send")
        return outcome

    def _land(self, flight: Flight, outcome: Outcome | None) -> None:
        lane = flight.lane
        lane.flying -= 1
        self._open.discard(flight)
        if not flight.is_slow:
            self._quick -= 1
        if outcome is not None:
            self.results.append(Result(flight.claim, outcome))
            self._learn(lane, outcome, is_slow=flight.is_slow)
        self._lanes.list(lane)
        self._landed()

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
            self.hand_back(lane, pause)
