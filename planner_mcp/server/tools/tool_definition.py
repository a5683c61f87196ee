"""What a tool is.

Owns the types that pass between a tool and a transport. Tools know neither MCP's SDK nor HTTP: `server/mcp` turns a
`ToolResult` into a call result.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, Generic

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from typing_extensions import TypeVar

from planner_mcp.errors import PlannerError, input_error
from planner_mcp.jobs.principals import READ as READ
from planner_mcp.jobs.principals import WRITE as WRITE
from planner_mcp.jobs.principals import Principal
from planner_mcp.routing.scenario.schema_faults import faults_of
from planner_mcp.server.tools.tool_output import ToolOutput, listed_schema, whole_schema
from planner_mcp.settings import Settings
from planner_mcp.text import Json, compact
from planner_mcp.translation import Language, current_language, translated, translated_line, translated_schema

if TYPE_CHECKING:
    from planner_mcp.geocoding.geocoding_service import GeocodingService
    from planner_mcp.jobs.job_service import JobService
    from planner_mcp.jobs.store.security.confirmed_address_store import ConfirmedAddressStore
    from planner_mcp.jobs.webhooks.delivery_records import WebhookStore
    from planner_mcp.server.auth.audit_trail import Audit
    from planner_mcp.server.resources.downloads import OfferDownload
    from planner_mcp.server.resources.resource_definition import ReadContext
    from planner_mcp.server.resources.share_links import OfferShare
    from planner_mcp.server.tools.large_arguments import LargeArguments

NotifyProgress = Callable[[float, float | None, str], Awaitable[None]]
"""`(progress, total, message)`: progress must rise from call to call."""

EnableToolset = Callable[[str], Awaitable[list[str] | None]]
"""Switches a tool set on for the session of a call and returns its tools, None where the set is not offered."""

AskUser = Callable[[str, Json], Awaitable[Mapping[str, Any]]]
"""`(message, schema of a flat object)`: asks the person behind a call and returns the answer, empty for none."""


class QuestionPendingError(Exception):
    """A call that goes on when its client sends it again with an answer. It passes every border up to the protocol."""

    def __init__(self, message: str, schema: Json) -> None:
        super().__init__(message)
        self.message = translated(message)
        self.schema: Json = translated_schema(schema, current_language())


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a call brings beside its arguments."""

    principal: Principal
    job_service: "JobService"
    settings: Settings
    notify_progress: NotifyProgress
    trace_id: str
    webhooks: "WebhookStore"
    reading: "ReadContext"
    """The source of resources."""
    offer_download: "OfferDownload"
    """Hands contents over, as a URL or a file."""
    confirmed: "ConfirmedAddressStore"
    """Addresses that principals confirmed."""
    geocoding: "GeocodingService"
    """Resolves addresses."""
    audit: "Audit | None" = None
    """Records every call; None in tests of a tool alone."""
    offer_share: "OfferShare | None" = None
    """Makes share links; None over stdio, which no browser reaches."""
    ask_user: AskUser | None = None
    """Asks the person behind the call; None where the client cannot, or where nobody shall be asked."""
    enable_toolset: EnableToolset | None = None
    """None where a call has no session."""
    base_url: str | None = None
    """Where the server is reached, without a slash at the end; None over stdio."""


@dataclass(frozen=True, slots=True)
class ResourceLink:
    """A link to a resource with more detail than the result."""

    uri: str
    name: str
    mime_type: str = "application/json"


@dataclass(frozen=True, slots=True)
class ImageContent:
    """An image beside the text of a result."""

    data: bytes
    mime_type: str


Output_co = TypeVar("Output_co", bound=ToolOutput, covariant=True, default=ToolOutput)


@dataclass(frozen=True, slots=True)
class ToolResult(Generic[Output_co]):
    """A result in two forms. Each is complete by itself, because hosts disagree which one the model sees."""

    output: Output_co
    text: str
    """Short lines of ids and numbers; no free text of the caller."""
    links: tuple[ResourceLink, ...] = ()
    images: tuple[ImageContent, ...] = ()
    structured: Json = field(init=False)
    """The output as JSON."""
    is_error: ClassVar[bool] = False

    def __post_init__(self) -> None:
        """Serialise the output once; the lines of the text are in the language of their reader."""
        object.__setattr__(self, "structured", self.output.as_json())
        if current_language() != "en":
            object.__setattr__(self, "text", "\n".join(map(translated_line, self.text.split("\n"))))


@dataclass(frozen=True, slots=True)
class ErrorResult:
    """A refusal: `{code, type, message, traceId, errors, retryable}` (SPEC T7) and the same as JSON text."""

    output: ToolOutput
    text: str
    error: PlannerError = field(compare=False)
    """With all its faults; the two forms list as many as a model's budget holds."""
    links: tuple[ResourceLink, ...] = ()
    images: tuple[ImageContent, ...] = ()
    structured: Json = field(init=False)
    """The output as JSON."""
    is_error: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Serialise the output once."""
        object.__setattr__(self, "structured", self.output.as_json())


RunTool = Callable[[ToolContext, Any], Awaitable[ToolResult]]
"""Takes what `Tool.parsed` returns."""


@dataclass(frozen=True, slots=True)
class ToolAnnotations:
    """What a client may assume of a tool (MCP annotations)."""

    read_only: bool = False
    destructive: bool = False
    idempotent: bool = False
    callback: bool = False
    open_world: bool = False
    """It may ask a service beyond the deployment."""

    def as_json(self) -> dict[str, bool]:
        """Return the annotations as MCP and the manifest spell them."""
        hints = {
            "readOnlyHint": self.read_only,
            "destructiveHint": self.destructive,
            "idempotentHint": self.idempotent,
            "openWorldHint": self.open_world,
        }
        return hints | ({"callbackSupport": True} if self.callback else {})

    def as_listed(self) -> dict[str, bool]:
        """Return the same without what MCP says of every tool: a reading one destroys nothing and may be repeated."""
        unsaid = {"destructiveHint", "idempotentHint"} if self.read_only else set[str]()
        if not self.idempotent:
            unsaid.add("idempotentHint")
        return {name: is_so for name, is_so in self.as_json().items() if name not in unsaid}


@dataclass(frozen=True, slots=True, eq=False)
class Tool:
    """One thing a client can ask for."""

    name: str
    title: str
    description: str
    """When to use it, what comes back, what to do next."""
    arguments: "type[Arguments] | Callable[[], Json]"
    """Their model, or what returns their JSON Schema where `run` reads them itself."""
    output: type[ToolOutput]
    """What a success returns; errors are `answers.error_results.ErrorOutput`."""
    hints: ToolAnnotations
    run: RunTool
    """Raises `PlannerError` for every refusal."""
    scope: str
    toolset: str = "core"
    meta: Json = field(default_factory=dict)
    """`example`, and what else belongs into `_meta`."""
    run_text: "Callable[[ToolContext, LargeArguments], Awaitable[ToolResult]] | None" = None
    """Runs it on large arguments that are still text; without it they are decoded for `run`."""
    usage: str = ""
    """The example of the description, where that of `_meta` is too long for it."""
    may_be_task: bool = False
    """Its answer is a job, so a client may take it as an MCP task; the result is then the job's end."""
    is_review: bool = False
    """It is offered only where plans are reviewed (`approval`)."""

    @property
    def input_schema(self) -> Json:
        """The JSON Schema of the arguments with every bound; `tools/list` shows fewer (`_listed`)."""
        return schema_of(self.arguments) if isinstance(self.arguments, type) else self.arguments()

    def parsed(self, args: Json, settings: Settings) -> Any:
        """Return the arguments of a call as `run` takes them; raises as `parse`."""
        return parse(self.arguments, args, settings) if isinstance(self.arguments, type) else args

    @property
    def output_schema(self) -> Json:
        """The whole JSON Schema of a success."""
        return whole_schema(self.output)

    def described(self, language: Language = "en") -> str:
        """Return the description with an example: hosts show a model this and the input schema, and no `_meta`."""
        text = translated(self.description, language)
        example = self.usage or ", ".join(f"{name}={_as_text(value)}" for name, value in self.meta["example"].items())
        return f"{text}{translated(' Example: ', language)}{example}" if example else text

    @property
    def annotations(self) -> Json:
        """The annotations with the title, which the revisions before 2025-06-18 know there alone."""
        return {"title": self.title, **self.hints.as_json()}

    def as_json(self, language: Language = "en") -> Json:
        """Return the tool as an entry of `tools/list`.

        The schema of its webhooks is in the manifest alone: no model reads it, and each would pay for it.
        """
        entry = {
            "name": self.name,
            "title": translated(self.title, language),
            "description": self.described(language),
            "inputSchema": translated_schema(_listed(self.input_schema), language),
            "outputSchema": translated_schema(listed_schema(self.output), language),
            "annotations": translated_schema({"title": self.title, **self.hints.as_listed()}, language),
            "_meta": self.meta,
        }
        return entry | ({"execution": {"taskSupport": "optional"}} if self.may_be_task else {})


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else compact(value)


class Arguments(BaseModel):
    """Base of the flat arguments of a tool: nothing coerced, nothing unknown. Each is built when it is first used."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False, defer_build=True)


PageNumber = Annotated[int, Field(ge=1, le=1_000_000, description="from 1 on")]

A = TypeVar("A", bound=Arguments)


def parse(model: type[A], args: Json, settings: Settings | None = None) -> A:
    """Return the arguments as a model; null stands for absent where a default exists.

    Args:
        model: What they should be.
        args: As they came.
        settings: Of the deployment; None where they are not at hand, so that nothing is checked by them.

    Raises:
        InputError: With all faults at once.
    """
    fields = model.model_fields
    given = {k: _whole(v) for k, v in args.items() if v is not None or k not in fields or fields[k].is_required()}
    try:
        return model.model_validate(given, context=settings)
    except ValidationError as error:
        raise input_error(faults_of(error, model, given)) from error


def _whole(value: Any) -> Any:
    """Return 3.0 as 3: to JSON Schema both are integers."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


@cache
def schema_of(model: type[BaseModel]) -> Json:
    """Return a model's JSON Schema without titles and nulls. It stands alone: no `$ref`, no `$defs`."""
    schema = model.model_json_schema()
    return {"type": "object", **_slim(schema, schema.pop("$defs", {}))}


_UNLISTED: Final = {"additionalProperties", "maxLength", "minLength"}


def _listed(schema: Any) -> Any:
    """Return a schema without what costs tokens and helps no caller; the manifest has all of it."""
    if isinstance(schema, list):
        return [_listed(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {key: _listed(value) for key, value in schema.items() if key not in _UNLISTED or isinstance(value, dict)}


def _slim(schema: Any, models: Json) -> Any:
    if isinstance(schema, list):
        return [_slim(item, models) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return _slim(models[schema["$ref"].rpartition("/")[2]], models)
    slim = {key: _slim(value, models) for key, value in schema.items() if key != "title" or isinstance(value, dict)}
    if "properties" in schema:
        slim.pop("description", None)
    if slim.get("default", ...) in (None, []):
        del slim["default"]
    options = [option for option in slim.get("anyOf", []) if option != {"type": "null"}]
    if len(options) == 1:
        del slim["anyOf"]
        slim = {**options[0], **slim}
    return slim
