"""Domain errors. Each has a stable code, an HTTP status and a sentence that says what to do."""

from typing import ClassVar


class DomainError(Exception):
    """A refusal that the caller can understand. Raised by services, translated at the entry points."""

    code: ClassVar[str] = "domain_error"
    status: ClassVar[int] = 422
    title: ClassVar[str] = "The request cannot be done"

    def __init__(self, detail: str, *, pointer: str = "", **extra: object) -> None:
        super().__init__(detail)
        self.detail = detail
        self.pointer = pointer
        self.extra = extra


class NotFound(DomainError):
    code = "not_found"
    status = 404
    title = "Not found"

    def __init__(
        self, detail: str = "No such resource in this workspace.", *, pointer: str = "", **extra: object
    ) -> None:
        super().__init__(detail, pointer=pointer, **extra)


class Unauthenticated(DomainError):
    code = "not_authenticated"
    status = 401
    title = "Authentication is needed"


class Forbidden(DomainError):
    code = "forbidden"
    status = 403
    title = "Not allowed"


class Conflict(DomainError):
    code = "conflict"
    status = 409
    title = "In conflict with the present state"


class Invalid(DomainError):
    code = "invalid"
    status = 422
    title = "The content is not valid"


class Busy(DomainError):
    code = "rate_limited"
    status = 429
    title = "Too many requests"


class BadParameter(DomainError):
    code = "invalid_parameter"
    status = 400
    title = "A parameter of the address cannot be used"


class PreconditionFailed(DomainError):
    code = "precondition_failed"
    status = 412
    title = "Changed meanwhile"


class TooLarge(DomainError):
    code = "content_too_large"
    status = 413
    title = "The content is too large"
