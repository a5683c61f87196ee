"""The error classes and the catalogue of stable codes.

Owns the exceptions and the codes, types and retry hints that a client sees. The transports decide in which form an
error is sent (tool result, JSON-RPC error, HTTP status).

```text
PlannerError                   code + type: stable, listed in the manifest · retryable · errors: one Fault per mistake
├─ InputError                  the caller can correct it MissingParameterError, InvalidScenarioError, NotFoundError, …
├─ AccessError                 the caller may not        UnauthenticatedError, InsufficientScopeError, …
├─ CapacityError               come back, retry_after_s  QueueFullError, RateLimitedError, QuotaExceededError
├─ JobError                    the life cycle refused    IllegalTransitionError, LeaseLostError, PlanNotReadyError, …
├─ AbandonedRequestError       its replica is gone; retryable
├─ SlowReaderError             a stream was not read; retryable
├─ EngineError                 the solver failed         EngineCrashedError, EngineMemoryError, PlanRejectedError, …
├─ StoreError                  Redis failed; retryable   StoreUnavailableError
├─ AuthorityUnavailableError   tokens cannot be checked; retryable
├─ WebhookError                a delivery failed         EndpointUnreachableError, EndpointUnverifiedError
├─ RoadMapError                no usable map here; the operator can fix it
├─ BridgedServiceError         a bridged service failed  ServiceUnreachableError, ServiceRefusedError
└─ RoutingProviderUnavailableError  a road engine failed; retryable
```
An infeasible scenario and a search that ran out of time are results, not errors.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Final, Self

from planner_mcp.translation import current_language, translated


@dataclass(frozen=True, slots=True)
class Fault:
    """One mistake in an input.

    Args:
        path: JSON Pointer (RFC 6901) into the arguments, `""` for the whole.
        problem: What is wrong, in one sentence, quoting no free text of the caller.
        accepted: What would be accepted there.
        hint: What to change, in the imperative. Empty when `accepted` says it all.
        kind: Which catalogue entry the mistake is (`missing`, `invalid`, `unknown`, `absent`, `logic`).
        needs: Other parts of the input that the mistake depends on, named by the check that found it; never sent.
        reason: The `InfeasibilityReason`, where the mistake proves that something cannot be served.
        which: The entries it stands in with the value seen in each, as `t-7 (180)`; of several mistakes
            reported as one, as many as are named.
        count: Number of equal mistakes that are reported as one.
        open_address: The address that is not sure, as it was written, for a caller that can ask a person; never sent.
        choices: What a person may choose from, one of which settles it, for a caller that can ask; never sent.
    """

    path: str
    problem: str
    accepted: str = ""
    hint: str = ""
    kind: str = "invalid"
    needs: tuple[str, ...] = field(default=(), compare=False, repr=False, kw_only=True)
    reason: str = field(default="", compare=False, kw_only=True)
    which: tuple[str, ...] = field(default=(), compare=False, kw_only=True)
    count: int = field(default=1, compare=False, kw_only=True)
    open_address: str = field(default="", compare=False, repr=False, kw_only=True)
    choices: tuple[str, ...] = field(default=(), compare=False, repr=False, kw_only=True)

    def as_json(self) -> dict[str, Any]:
        """Return the fault as it stands in `errors[]` of an answer, in the language of its reader."""
        fault: dict[str, Any] = {
            "path": self.path,
            "problem": translated(self.problem),
            "accepted": translated(self.accepted),
            "hint": translated(self.hint),
        }
        fault |= {"reason": str(self.reason)} if self.reason else {}
        fault |= {"which": list(self.which)} if self.which else {}
        return fault | ({"count": self.count} if self.count > 1 else {})

    def as_line(self) -> str:
        """Return the fault as it stands in a text: `path: 2 times: which: problem (accepted: …) hint`."""
        times = f" {self.count} times:" if self.count > 1 else ""
        more = ", …" if self.count > len(self.which) else ""
        which = f" {', '.join(self.which)}{more}:" if self.which else ""
        accepted = f" (accepted: {translated(self.accepted)})" if self.accepted else ""
        return (
            f"{self.path or '/'}:{times}{which} {translated(self.problem)}{accepted} {translated(self.hint)}".rstrip()
        )


class PlannerError(Exception):
    """Base of everything the planner raises on purpose."""

    code: ClassVar[int] = 5000
    type: ClassVar[str] = "InternalError"
    """With a code of its own, a class has its name without `Error` as its type, unless it declares another."""
    retryable: ClassVar[bool] = False
    summary: ClassVar[str] = "Something failed inside the server; quote the trace id when you report it."

    def __init_subclass__(cls) -> None:
        if "code" in vars(cls) and "type" not in vars(cls):
            cls.type = cls.__name__.removesuffix("Error")

    def __init__(
        self,
        message: str | None = None,
        *,
        errors: Sequence[Fault] = (),
        found: int = 0,
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(message or self.summary)
        self.message = message or self.summary
        self.errors = tuple(errors)
        self.found = found or len(self.errors)
        """Mistakes there are; `errors` may list fewer."""
        self.retry_after_s = retry_after_s

    def translated_message(self) -> str:
        """Return the message in the language of its reader; details that are in English alone follow the summary."""
        message, summary = translated(self.message), translated(self.summary)
        is_english = message == self.message
        return f"{summary} {message}" if is_english and summary != self.summary else message

    def lines(self) -> list[str]:
        """Return the error for people: a line a fault, or the message where it lists none."""
        return [fault.as_line() for fault in self.errors] or [self.translated_message()]

    def as_text(self) -> str:
        """Return the error for people with its code and type, as `error_text`."""
        return error_text(self.code, self.type, self.translated_message(), [fault.as_line() for fault in self.errors])

    def as_json(self, trace_id: str) -> dict[str, Any]:
        """Return `{code, type, message, traceId, errors, retryable[, retry_after_s]}` (SPEC T7)."""
        body: dict[str, Any] = {
            "code": self.code,
            "type": self.type,
            "message": self.translated_message(),
            "traceId": trace_id,
            "errors": [fault.as_json() for fault in self.errors],
            "retryable": self.retryable,
        }
        if self.retry_after_s is not None:
            body["retry_after_s"] = self.retry_after_s
        return body


# ---- the caller can fix it


class InputError(PlannerError):
    """The caller can fix it; the same call will fail again."""

    code = 4000
    type = "InvalidInput"
    summary = "The input has several kinds of mistakes; errors lists them all."


class InvalidParameterError(InputError):
    """A value has the wrong type, range or form."""

    code = 4001
    summary = "A parameter has a value that is not accepted."


class MissingParameterError(InputError):
    """A required parameter is absent."""

    code = 4002
    summary = "A required parameter is missing."


class UnknownParameterError(InputError):
    """A parameter that no schema names."""

    code = 4003
    summary = "A parameter is not known here."


class NotFoundError(InputError):
    """Unknown, or another principal's; the caller cannot distinguish the two."""

    code = 4004
    summary = "Nothing with this id is known here."


class InvalidScenarioError(InputError):
    """Well-formed, but contradictory."""

    code = 4005
    summary = "The scenario contradicts itself; errors lists what to correct."


class UnsupportedFeatureError(InputError):
    """No engine that is installed can plan this combination of features."""

    code = 4006
    summary = "No installed engine supports this combination of features."


class UnknownToolError(InputError):
    """No such tool."""

    code = 4007
    summary = "No tool has this name."


class IdempotencyConflictError(InputError):
    """The key was used before with other arguments."""

    code = 4009
    summary = "This idempotency_key was used with other arguments."

    def __init__(self, message: str | None = None, *, path: str = "/idempotency_key") -> None:
        hint = "Use another key, or repeat the first call as it was."
        super().__init__(message, errors=[Fault(path, self.summary, "a key that was not used before", hint)])


class TooLargeError(InputError):
    """More than one call may carry."""

    code = 4013
    summary = "The input is larger than one call may be."


class EndpointForbiddenError(InputError):
    """The callback address is one that must not be called."""

    code = 4014
    summary = "This callback_url is not allowed."


class InvalidMessageError(InputError):
    """The body is not a JSON-RPC message this server takes."""

    code = 4015
    summary = "The body cannot be read: it is JSON in UTF-8, and for MCP a JSON-RPC 2.0 message."


class UnknownMethodError(InputError):
    """No such method in the negotiated revision."""

    code = 4016
    summary = "No method has this name in the negotiated revision."


class UnknownSessionError(InputError):
    """No such session, or not the caller's, or it ended."""

    code = 4017
    summary = "This session is not known here or has ended; initialize a new one."


class LostStreamError(InputError):
    """The position cannot be resumed from."""

    code = 4018
    summary = "Nothing can be replayed from this Last-Event-ID: it is unknown or too old. Read the state anew."


class UnsupportedEncodingError(InputError):
    """A compressed request body."""

    code = 4021
    summary = "Request bodies are accepted without Content-Encoding only."


class MethodNotAllowedError(InputError):
    """The path exists, the HTTP method does not."""

    code = 4022
    summary = "This HTTP method is not served here."


class UnsupportedMediaTypeError(InputError):
    """The body is of another kind than the path takes."""

    code = 4025
    summary = "The body has a Content-Type that is not taken here."


class NotAcceptableError(InputError):
    """Nothing of what `Accept` asks for is offered."""

    code = 4026
    summary = "None of the media types in Accept is offered here."


class PreconditionFailedError(InputError):
    """What `If-Match` names has changed."""

    code = 4027
    summary = "It has changed since the version in If-Match; read it again."


# ---- the caller may not


class AccessError(PlannerError):
    """The caller may not do this."""

    code = 4010
    type = "AccessDenied"
    summary = "Access denied."


class UnauthenticatedError(AccessError):
    """No token, or none that is accepted."""

    code = 4011
    summary = "A valid access token is needed."


class InsufficientScopeError(AccessError):
    """The token lacks a scope."""

    code = 4012
    summary = "The access token lacks a scope this call needs."


class WrongHostError(AccessError):
    """The Host header names no address of this server."""

    code = 4019
    summary = "This server does not answer under this Host; the operator can add it to PLANNER_ALLOWED_HOSTS."


class ForbiddenOriginError(AccessError):
    """A web page of another origin."""

    code = 4020
    summary = "Pages of this Origin may not call; the operator can add it to PLANNER_ALLOWED_ORIGINS."


class LinkExpiredError(AccessError):
    """The time of an access link is over."""

    code = 4023
    summary = "This link has expired; whoever gave it can ask for a new one."


class FourEyesError(AccessError):
    """Who proposed a plan reviews it."""

    code = 4024
    summary = "Another principal than the one that proposed this plan must review it."


# ---- come back


class CapacityError(PlannerError):
    """Come back after `retry_after_s`."""

    code = 4029
    type = "Overloaded"
    retryable = True
    summary = "The server is busy; come back later."

    @classmethod
    def reached(cls, problem: str, allowed: str, hint: str = "", *, retry_after_s: float) -> Self:
        """Return the refusal of a limit that was reached: which one, what it allows, and when to come back."""
        return cls(problem, errors=[Fault("", problem, allowed, hint)], retry_after_s=retry_after_s)


class QueueFullError(CapacityError):
    """The bounded queue refuses more."""

    code = 4030
    summary = "The queue is full."


class RateLimitedError(CapacityError):
    """Too many calls in too short a time."""

    code = 4031
    summary = "Too many calls."


class QuotaExceededError(CapacityError):
    """The principal has as many jobs or streams open, or keeps as many scenarios, as it may."""

    code = 4032
    summary = "The quota of this principal is used up."


class RequestUnderWayError(CapacityError):
    """An equal request with the same idempotency key has no answer yet."""

    code = 4033
    summary = "The same request is still under way; send it again for its answer."


# ---- the life cycle refused


class JobError(PlannerError):
    """The life cycle of a job refused."""

    code = 4040
    type = "JobRefused"
    summary = "The job is in a state that does not allow this."


class IllegalTransitionError(JobError):
    """The state has no such exit."""

    code = 4041
    summary = "The job is in a state that does not allow this."


class LeaseLostError(JobError):
    """A worker spoke for a job that is no longer its own. Never reaches a client."""

    code = 4042
    summary = "The lease of this job has passed to another worker."


class PlanNotReadyError(JobError):
    """No plan exists yet."""

    code = 4043
    retryable = True
    summary = "This job has no plan yet."


class TravelUnknownError(JobError):
    """The tables of travel that a day refers to are not at hand."""

    code = 4044
    summary = "Travel of this day is not available: upload its matrix again, or solve the day first."


# ---- what was under way ended


class AbandonedRequestError(PlannerError):
    """The replica that worked on the request is gone."""

    code = 5001
    retryable = True
    summary = "The server that worked on this request stopped; jobs go on, call again."


class SlowReaderError(PlannerError):
    """A reader took nothing from its stream for too long."""

    code = 5002
    retryable = True
    summary = "Nothing was read from this stream for too long, so it was ended; listen again, nothing is lost."


# ---- the solver failed


class EngineError(PlannerError):
    """The solver failed."""

    code = 5010
    type = "EngineFailed"
    summary = "The solver failed on this scenario."


class EngineCrashedError(EngineError):
    """The solving process died."""

    code = 5011
    summary = "The solving process died."


class EngineMemoryError(EngineError):
    """The solving process reached its memory cap."""

    code = 5012
    type = "EngineOutOfMemory"
    summary = "The solve needed more memory than a job may use."


class EngineTimeoutError(EngineError):
    """The solver ignored its limit and was killed."""

    code = 5013
    summary = "The solver did not stop at its limit and was killed."


class PlanRejectedError(EngineError):
    """The engine's plan failed the independent verifier."""

    code = 5014
    summary = "The solver returned a plan that breaks the scenario; it was discarded."


class PoisonedJobError(EngineError):
    """The job killed its worker too often."""

    code = 5015
    summary = "The job killed its worker three times and will not be run again."


# ---- Redis failed


class StoreError(PlannerError):
    """Redis failed."""

    code = 5030
    type = "StoreFailed"
    retryable = True
    summary = "The job store did not answer; try again."


class StoreUnavailableError(StoreError):
    """Redis is away or refuses to write."""

    code = 5031
    summary = "The job store is not available; try again."


# ---- tokens cannot be checked


class AuthorityUnavailableError(PlannerError):
    """The issuer or introspection endpoint does not answer."""

    code = 5032
    retryable = True
    summary = "The access token could not be checked; try again."


# ---- a delivery failed


class WebhookError(PlannerError):
    """A webhook delivery failed."""

    code = 5040
    type = "WebhookFailed"
    summary = "The webhook could not be delivered."


class EndpointUnreachableError(WebhookError):
    """No answer from the endpoint."""

    code = 5042
    summary = "The webhook endpoint did not answer."


class EndpointUnverifiedError(WebhookError):
    """An endpoint did not return the challenge of a subscription."""

    code = 5043
    summary = 'The webhook endpoint did not return the challenge: 2xx and {"challenge": "…"} with the same text.'


# ---- a road engine failed


class RoutingProviderUnavailableError(PlannerError):
    """A road engine did not answer, or not with what was asked."""

    code = 5050
    type = "RoadsUnavailable"
    retryable = True
    summary = "The road engine of this day did not answer; solve again later or plan with other travel."


class RoadMapError(PlannerError):
    """The road engine of this host cannot be built or started; its operator can fix it."""

    code = 5051
    summary = "The road engine of this server has no usable map."


# ---- a service behind a bridge failed


class BridgedServiceError(PlannerError):
    """A service behind a bridge gave no answer that can be used."""

    code = 5060
    type = "ServiceFailed"
    summary = "The service behind this tool answered with something that cannot be used."


class ServiceUnreachableError(BridgedServiceError):
    """No answer from the service."""

    code = 5061
    retryable = True
    summary = "The service behind this tool did not answer; try again later."


class ServiceRefusedError(BridgedServiceError):
    """The service refused the request."""

    code = 5062
    summary = "The service behind this tool refused the request."


class ServiceBusyError(BridgedServiceError):
    """The service asks to be called later."""

    code = 5063
    retryable = True
    summary = "The service behind this tool asks to be called later."


# ---- beside the tree

_KIND_CLASSES: Final[dict[str, type[InputError]]] = {
    "missing": MissingParameterError,
    "invalid": InvalidParameterError,
    "unknown": UnknownParameterError,
    "absent": NotFoundError,
    "logic": InvalidScenarioError,
    "forbidden": EndpointForbiddenError,
}


MAX_FAULTS: Final = 50
"""Faults listed for one input."""
_ALL_LISTED: Final = "each is listed in errors."
_NUMBER: Final = re.compile(r"^\d+")
_LISTED: Final = re.compile(rf"{re.escape(_ALL_LISTED)}|the first \d+ are listed\.")


def input_error(faults: Sequence[Fault], *, most: int = MAX_FAULTS, found: int = 0) -> InputError:
    """Return the error of some faults: of the class they share, or the general one when they differ.

    Args:
        faults: At least one, in the order in which they are listed.
        most: Most faults that are listed; one more then says how many are not.
        found: Number of mistakes, where the caller kept only some of them.
    """
    kinds = {fault.kind for fault in faults}
    cls = _KIND_CLASSES[kinds.pop()] if len(kinds) == 1 else InputError
    count = max(found, sum(fault.count for fault in faults))
    if len(faults) > most:
        faults = grouped(faults)
    if count == 1:
        return cls(faults[0].problem, errors=faults)
    message = f"{count} problems; {_ALL_LISTED}"
    listed = sum(fault.count for fault in faults[:most])
    if count <= listed:
        return cls(message, errors=faults, found=count)
    rest = Fault("", f"{count - listed} more problems are not listed.", "", "Correct these first.", faults[-1].kind)
    return cls(listing_only(message, listed), errors=[*faults[:most], rest], found=count)


SCENARIO_LISTS: Final = ("agents", "tickets", "locations")
_ENTRY: Final = 2
"""Part of a path that names an entry of one of the lists of a scenario, by its position or id."""


def grouped(faults: Sequence[Fault]) -> list[Fault]:
    """Return equal mistakes in different entries as one fault, which names its entries; the order stays.

    What is accepted and the hint stay where they are the same for all.
    """
    found: dict[tuple[str, ...], list[Fault]] = {}
    for fault in faults:
        parts = ["*" if part.isdigit() else part for part in fault.path.split("/")]
        if len(parts) > _ENTRY and parts[1] in SCENARIO_LISTS:
            parts[_ENTRY] = "*"
        found.setdefault(("/".join(parts), fault.problem, fault.kind, fault.reason), []).append(fault)
    return [_joined(alike) for alike in found.values()]


def _joined(alike: Sequence[Fault]) -> Fault:
    first = alike[0]
    if len(alike) == 1:
        return first
    return replace(
        first,
        accepted=first.accepted if all(each.accepted == first.accepted for each in alike) else "",
        hint=first.hint if all(each.hint == first.hint for each in alike) else "",
        which=tuple(entry for each in alike for entry in each.which),
        count=sum(each.count for each in alike),
    )


def listing_only(message: str, kept: int) -> str:
    """Return the message of several faults of which the first `kept` are listed."""
    return _LISTED.sub("the first is listed." if kept == 1 else f"the first {kept} are listed.", message)


def error_catalogue() -> dict[int, dict[str, Any]]:
    """Return every stable code with its type, meaning and whether a retry can help, by number."""
    return {
        code: {"type": cls.type, "meaning": cls.summary, "retryable": cls.retryable}
        for code, cls in error_classes().items()
    }


@dataclass(frozen=True, slots=True)
class JobFailure:
    """Why a job failed, as it is kept: in English, whichever version of the program wrote it."""

    code: int
    type: str
    message: str
    details: Mapping[str, Any] = field(default_factory=dict)
    """What else `PlannerError.as_json` writes; the store itself writes nothing more."""

    @staticmethod
    def of(kept: Mapping[str, Any]) -> "JobFailure":
        """Return an error that was kept as JSON."""
        details = dict(kept)
        names = {"code": PlannerError.code, "type": PlannerError.type, "message": PlannerError.summary}
        return JobFailure(**{name: details.pop(name, usual) for name, usual in names.items()}, details=details)

    @property
    def faults(self) -> list[Fault]:
        """The mistakes it lists."""
        return [Fault(**{**fault, "which": tuple(fault.get("which", ()))}) for fault in self.details.get("errors", ())]

    def translated(self) -> "JobFailure":
        """Return the error in the language of its reader."""
        if current_language() == "en":
            return self
        message = error_classes().get(self.code, PlannerError)(self.message).translated_message()
        errors = [fault.as_json() for fault in self.faults]
        return replace(self, message=message, details={**self.details, "errors": errors})

    def as_json(self) -> dict[str, Any]:
        """Return the error as it is kept and sent."""
        return {"code": self.code, "type": self.type, "message": self.message, **self.details}


def error_text(code: int, kind: str, message: str, faults: Sequence[str]) -> str:
    """Return an error for people: `error CODE TYPE:` before its one fault, or before its message and a line a fault."""
    head = f"error {code} {kind}: "
    return head + faults[0] if len(faults) == 1 else "\n".join([head + message, *faults])


def error_classes() -> dict[int, type[PlannerError]]:
    """Return the class that declares each stable code, by number; a subclass with the code of its parent is not it."""
    found: dict[int, type[PlannerError]] = {}
    pending: list[type[PlannerError]] = [PlannerError]
    while pending:
        cls = pending.pop()
        pending.extend(cls.__subclasses__())
        if "code" in vars(cls):
            found[cls.code] = cls
    return dict(sorted(found.items()))


@contextmanager
def placed(place: Callable[[Fault], Fault]) -> Iterator[None]:
    """Replace each fault of an `InputError` or `JobError` raised in the block by what `place` returns for it.

    Faults that are the same there, such as of a begin and an end that one cell names, become one.
    """
    try:
        yield
    except (InputError, JobError) as error:
        before = error.errors
        first = before[0].problem if before else ""
        error.errors = tuple(dict.fromkeys(map(place, before)))
        fewer = sum(fault.count for fault in before) - sum(fault.count for fault in error.errors)
        if error.message == first or (fewer and len(error.errors) == 1):  # of a single fault, whose words are its own
            error.message = error.errors[0].problem
        elif fewer:
            error.message = _NUMBER.sub(lambda number: str(int(number[0]) - fewer), error.message)
        raise


@contextmanager
def ungrouped() -> Iterator[None]:
    """Raise a `PlannerError` that a task group has wrapped, so that `except PlannerError` catches it.

    Of several such errors the first is raised. A group that contains other exceptions is raised as it is.
    """
    try:
        yield
    except BaseExceptionGroup as group:
        ours, others = group.split(PlannerError)
        if ours is None or others is not None:
            raise
        refusal: BaseException = ours
        while isinstance(refusal, BaseExceptionGroup):
            refusal = refusal.exceptions[0]
        raise refusal from refusal.__cause__
