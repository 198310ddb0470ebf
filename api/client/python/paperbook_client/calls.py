"""What a method of the client sends."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import quote

if TYPE_CHECKING:
    from .generated import OrderBatch, OrderRequest


@dataclass(frozen=True)
class Call:
    """One request. A query parameter that is None is left out."""

    method: str
    path: str
    query: Mapping[str, object] = field(default_factory=dict)
    body: Mapping[str, object] | None = None
    # Id of an organization, whose sandbox the call is about.
    org: str | None = None
    # Whether sending it twice does no more than sending it once.
    repeatable: bool = False


def path_of(*parts: str) -> str:
    """Fixed parts and values in turn; no value can add a segment of its own."""
    return "".join(
        part if at % 2 == 0 else quote(part, safe="") for at, part in enumerate(parts)
    )


def with_key(order: OrderRequest) -> OrderRequest:
    """The order; with a new idempotency key, where it has none."""
    if "idempotencyKey" in order or "clientOrderId" in order:
        return order
    keyed: OrderRequest = {**order, "idempotencyKey": str(uuid.uuid4())}  # type: ignore
    return keyed


def with_keys(batch: OrderBatch) -> OrderBatch:
    """The batch, each order with a key."""
    return {**batch, "orders": [with_key(order) for order in batch["orders"]]}
