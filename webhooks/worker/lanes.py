"""What one dispatcher holds for each endpoint, and how much more it may take."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from time import monotonic

from webhooks.transport.sender import FIXED_HEADERS
from webhooks.transport.signing import Signer
from webhooks.types import Claim, Endpoint
from webhooks.worker.limits import Limits


@dataclass(slots=True, eq=False)
class Lane:
    """One endpoint. Its window opens with success and closes to one with failure or slowness (as TCP's does), so that
    what an endpoint can hold of this process is small until it has shown that it is quick."""

    endpoint: Endpoint
    headers: dict[str, str]
    signers: tuple[Signer, ...]
    limits: Limits
    window: int
    queue: deque[tuple[Claim, float]] = field(default_factory=deque)
    flying: int = 0
    is_failing: bool = False
    rests_until: float = 0.0
    is_listed: bool = False

    @property
    def held(self) -> int:
        """Deliveries under our lease: waiting here or in flight."""
        return len(self.queue) + self.flying

    def quota(self) -> int:
        """How many more may be claimed now."""
        if monotonic() < self.rests_until:
            return 0
        return max(0, (1 if self.endpoint.ordered else self.window) - self.held)

    @property
    def can_fly(self) -> bool:
        """Whether a waiting delivery may be sent now."""
        if not self.queue:
            return False
        return self.flying < (1 if self.endpoint.ordered else min(self.window, self.limits.per_endpoint))

    def widen(self) -> None:
        """The endpoint answered well and in time."""
        self.window = min(self.window * 2, self.limits.window)

    def narrow(self) -> None:
        """The endpoint failed, or keeps a request open for long."""
        self.window = 1


class Lanes:
    """The lanes of a dispatcher, and a fair turn among those that have something to send."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._lanes: dict[str, Lane] = {}
        self._turn: deque[Lane] = deque()

    def __iter__(self) -> Iterator[Lane]:
        return iter(self._lanes.values())

    @property
    def held(self) -> int:
        return sum(lane.held for lane in self._lanes.values())

    def find(self, webhook_id: str) -> Lane | None:
        return self._lanes.get(webhook_id)

    def open(self, endpoint: Endpoint) -> None:
        """Open a lane, or give it the newest snapshot of its endpoint."""
        headers = FIXED_HEADERS | endpoint.headers
        signers = tuple(Signer(key) for key in endpoint.secrets)
        lane = self._lanes.get(endpoint.id)
        if lane is None:
            self._lanes[endpoint.id] = Lane(endpoint, headers, signers, self._limits, window=self._limits.per_endpoint)
        else:
            lane.endpoint, lane.headers, lane.signers = endpoint, headers, signers

    def add(self, claim: Claim, usable_until: float) -> None:
        """Take a claimed delivery into its lane; it may be sent until `usable_until` (monotonic)."""
        lane = self._lanes[claim.webhook_id]
        lane.queue.append((claim, usable_until))
        self.list(lane)

    def list(self, lane: Lane) -> None:
        """Give a lane its turn when it can use one."""
        if not lane.is_listed and lane.can_fly:
            lane.is_listed = True
            self._turn.append(lane)

    def next(self) -> tuple[Lane, Claim, float] | None:
        """The next delivery to send, one of each lane in turn; it counts as flying from now on."""
        while self._turn:
            lane = self._turn.popleft()
            lane.is_listed = False
            if lane.can_fly:
                claim, usable_until = lane.queue.popleft()
                lane.flying += 1
                self.list(lane)
                return lane, claim, usable_until
        return None

    def forget_idle(self, *, keep: int) -> None:
        """Drop lanes that hold nothing when there are many: what they learned is quickly learned again."""
        if len(self._lanes) > keep:
            now = monotonic()
            self._lanes = {key: lane for key, lane in self._lanes.items() if lane.held or lane.rests_until > now}
