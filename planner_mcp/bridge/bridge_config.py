"""What an operator writes to serve operations of another service as tools: the file of `planner-mcp bridge`.

Owns the form of that file. Nothing is served that it does not name. What the document lacks or says badly is written
here: names and descriptions for models, constants that callers never see, what of an answer is worth its tokens.
"""

from pathlib import Path
from typing import Annotated, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from planner_mcp.bridge.document_reading import read_mapping
from planner_mcp.errors import input_error
from planner_mcp.routing.scenario.schema_faults import faults_of
from planner_mcp.settings import Network
from planner_mcp.text import Json

Effect = Literal["read", "write", "destroy"]
NAME_FORM: Final = r"^[A-Za-z][A-Za-z0-9_-]{0,63}$"
Name = Annotated[str, Field(pattern=NAME_FORM)]
"""What every client takes for the name of a tool or of an argument."""
MAX_TOOLS: Final = 50
"""One page of tools/list."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class AuthConfig(_Part):
    """How the bridge authenticates itself. The secret stands in an environment variable, never in the file."""

    kind: Literal["bearer", "basic", "header", "query"]
    env: str = Field(
        pattern=r"^[A-Z_][A-Z0-9_]*$", description="The variable with the token; for basic `name:password`."
    )
    name: str | None = Field(
        default=None, pattern=r"^[A-Za-z0-9_-]{1,64}$", description="Of the header or the query parameter."
    )

    @model_validator(mode="after")
    def _named_where_needed(self) -> Self:
        if (self.name is None) == (self.kind in ("header", "query")):
            raise ValueError("name goes with the kinds header and query, and only with them")
        return self


class ArgumentConfig(_Part):
    """How one argument is shown."""

    name: Name | None = Field(default=None, description="What callers say.")
    description: str | None = Field(default=None, max_length=500, description="In place of the document's.")
    required: bool | None = Field(default=None, description="true asks for it although the service does not.")


class ToolConfig(_Part):
    """One operation that is served."""

    operation: str = Field(max_length=500, description="Its operationId, or method and path: `GET /orders/{id}`.")
    name: Name | None = Field(default=None, description="Of the tool; the operationId where it fits.")
    title: str | None = Field(default=None, max_length=100)
    description: str | None = Field(
        default=None, max_length=1000, description="When to use it and what comes back, in place of the document's."
    )
    effect: Effect | None = Field(
        default=None, description="What a call does. GET and HEAD read; every other method has to say it."
    )
    arguments: dict[str, ArgumentConfig] = Field(default={}, description="By the name an argument has without it.")
    constants: Json = Field(default={}, description="Arguments that always have this value; never shown.")
    hide: list[str] = Field(default=[], description="Optional arguments that are not offered.")
    select: str | None = Field(
        default=None, max_length=2000, description="JMESPath expression for what of an answer is handed over."
    )
    max_tokens: int | None = Field(default=None, ge=50, le=8000, description="Of one answer.")
    example: Json = Field(default={}, description="Arguments of a usual call, shown in the description.")


class BridgeConfig(_Part):
    """The whole file."""

    document: str = Field(max_length=500, description="The OpenAPI document: a file, beside this one where relative.")
    base_url: str | None = Field(default=None, max_length=500, description="In place of the document's first server.")
    name: Name = Field(description="Of the MCP server.")
    title: str | None = Field(default=None, max_length=100)
    description: str | None = Field(default=None, max_length=300)
    instructions: str = Field(default="", max_length=500, description="What a model should know of the tools together.")
    auth: AuthConfig | None = None
    allow_networks: list[Network] = Field(
        default=[], description="Networks that the service may be in beside the public ones; http:// is for them alone."
    )
    timeout_s: float = Field(default=20.0, gt=0, le=20, description="Longest wait for one answer.")
    max_tokens: int = Field(default=2000, ge=50, le=8000, description="Of an answer, where its tool says nothing else.")
    budget_tokens: int = Field(default=2400, ge=100, le=20_000, description="Of tools/list, for `bridge check`.")
    tools: list[ToolConfig] = Field(min_length=1, max_length=MAX_TOOLS)


def read_config(path: Path) -> BridgeConfig:
    """Return the configuration of a file.

    Raises:
        InputError: With every fault of the file at once.
    """
    body = read_mapping(path)
    try:
        return BridgeConfig.model_validate(body)
    except ValidationError as error:
        raise input_error(faults_of(error, BridgeConfig, body)) from error
