"""/v1/settings: what a tenant has chosen of what the operator allows."""

from __future__ import annotations

from functools import partial

from fastapi import APIRouter
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field

from helix.errors import BadRequest
from helix.library.tenant_models import TenantModels, choose_model
from helix.providers.choices import named
from helix.serving.authentication import ApiRoute, CurrentCaller
from helix.serving.caller import Caller
from helix.serving.query_request import ANSWERS_BY, ModelName
from helix.serving.sse import TextJson

router = APIRouter(
    prefix="/v1/settings", tags=["settings"], route_class=ApiRoute,
    default_response_class=Response,
)  # fmt: skip


class SettingsChange(BaseModel):
    """Changes of a tenant's settings; what is left out stays as it is."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    model: ModelName | None = Field(
        None, description=f"{ANSWERS_BY}, for questions that choose none; null: that of HELIX_LLM"
    )
    tenant_id: str | None = None


@router.get("", summary="What the tenant has chosen")
async def settings(caller: CurrentCaller) -> Response:
    """`model`: the name of the model that answers; `null` where that of HELIX_LLM does."""
    return await _told(caller)


@router.patch("", summary="Choose for the tenant")
async def change(caller: CurrentCaller, changed: SettingsChange) -> Response:
    """Holds from the next question on; `400` lists the models that may be chosen."""
    if "model" not in changed.model_fields_set:
        raise BadRequest("nothing to change: send model")
    if changed.model is not None:
        named(caller.services.choices, changed.model)
    caller = caller.for_tenant(changed.tenant_id)
    caller.require_whole_key()
    library = caller.library
    await library.change(partial(choose_model, tenant=library.tenant, name=changed.model))
    caller.changed(f"model {changed.model}")
    return await _told(caller)


async def _told(caller: Caller) -> Response:
    return TextJson({"model": await TenantModels(caller.library.store).of(caller.tenant)})
