"""What resources need of a client, and lists that fetch their pages by themselves."""

from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Generic, Protocol, TypeVar

from autonomous_inbox.wire import Call, Page, Reply, Versioned

T = TypeVar("T")
Change = Callable[[T], Mapping[str, Any]]


class Sender(Protocol):
    """A client that waits for its answers."""

    def send(self, call: Call) -> Any: ...

    def exchange(self, call: Call) -> Reply: ...

    def versioned(self, call: Call) -> Versioned[Any]: ...

    def edit(self, read: Call, write: Call, change: Change[Any], *, tries: int) -> Any: ...


class AsyncSender(Protocol):
    """A client that is awaited."""

    async def send(self, call: Call) -> Any: ...

    async def exchange(self, call: Call) -> Reply: ...

    async def versioned(self, call: Call) -> Versioned[Any]: ...

    async def edit(self, read: Call, write: Call, change: Change[Any], *, tries: int) -> Any: ...


class Pages(Generic[T]):
    """A list that fetches its next page when it is needed. Iterate over it, or over `pages()`."""

    def __init__(self, client: Sender, call: Call) -> None:
        self._client, self._call = client, call

    def __iter__(self) -> Iterator[T]:
        for page in self.pages():
            yield from page

    def pages(self) -> Iterator[Page[T]]:
        """Page by page; `next` of one is a cursor from which a later list can go on."""
        call = self._call
        while True:
            page: Page[T] = Page.of(self._client.send(call))
            yield page
            if page.next is None:
                return
            call = replace(call, query={**call.query, "cursor": page.next})

    def first(self) -> T | None:
        """The newest; None of an empty list."""
        return next(iter(self), None)


class AsyncPages(Generic[T]):
    """The same for `async for`."""

    def __init__(self, client: AsyncSender, call: Call) -> None:
        self._client, self._call = client, call

    async def __aiter__(self) -> AsyncIterator[T]:
        async for page in self.pages():
            for row in page:
                yield row

    async def pages(self) -> AsyncIterator[Page[T]]:
        """Page by page; `next` of one is a cursor from which a later list can go on."""
        call = self._call
        while True:
            page: Page[T] = Page.of(await self._client.send(call))
            yield page
            if page.next is None:
                return
            call = replace(call, query={**call.query, "cursor": page.next})

    async def first(self) -> T | None:
        """The newest; None of an empty list."""
        async for row in self:
            return row
        return None
