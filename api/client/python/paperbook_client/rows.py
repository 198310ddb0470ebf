"""Rows of a paged list, page by page, and as a frame of pandas."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from pandas import DataFrame  # type: ignore[import-untyped, unused-ignore]

Row = TypeVar("Row")


class Rows(Iterator[Row]):
    """The rows of all pages, each once. A page is asked for when the rows before it were taken."""

    def __init__(
        self,
        page: Callable[[str | None], Mapping[str, Any]],
        field: str,
        next_field: str,
        start: str | None = None,
    ) -> None:
        self._field = field
        self._rows = _all_rows(page, field, next_field, start)

    def __next__(self) -> Row:
        row: Row = next(self._rows)
        return row

    def __repr__(self) -> str:
        return f"<Rows of {self._field}>"

    def to_frame(self) -> DataFrame:
        """The rows that are left, as ``to_frame`` makes them."""
        return to_frame(self)


class AsyncRows(Generic[Row]):
    """``Rows`` for ``async for``."""

    def __init__(
        self,
        page: Callable[[str | None], Awaitable[Mapping[str, Any]]],
        field: str,
        next_field: str,
        start: str | None = None,
    ) -> None:
        self._field = field
        self._rows = _all_rows_async(page, field, next_field, start)

    def __aiter__(self) -> AsyncRows[Row]:
        return self

    async def __anext__(self) -> Row:
        row: Row = await anext(self._rows)
        return row

    def __repr__(self) -> str:
        return f"<AsyncRows of {self._field}>"

    async def to_frame(self) -> DataFrame:
        """The rows that are left, as ``to_frame`` makes them."""
        return to_frame([row async for row in self])


def to_frame(rows: Mapping[str, Any] | Iterable[Any]) -> DataFrame:
    """A frame of rows, or of the first list of an answer. It needs pandas.

    A field of a field is a column such as ``mid.close``. Times are timestamps in UTC. Where a row
    begins with its time, as candles and history do, that is the index.
    """
    try:
        import pandas
    except ImportError as error:
        raise ImportError("to_frame needs pandas: pip install pandas") from error
    from .generated import TIME_FIELDS

    # Before version 2 pandas reads each time by itself, and knows no such format.
    format_of: dict[str, Any] = {} if pandas.__version__.startswith("1.") else {"format": "ISO8601"}
    listed = _list_of(rows) if isinstance(rows, Mapping) else list(rows)
    frame = pandas.json_normalize(listed)
    for column in list(frame.columns):
        is_empty_parent = any(other.startswith(f"{column}.") for other in frame.columns)
        if is_empty_parent and frame[column].isna().all():
            frame = frame.drop(columns=column)
        elif column.rpartition(".")[2] in TIME_FIELDS:
            frame[column] = pandas.to_datetime(frame[column], utc=True, **format_of)
    if len(frame.columns) > 0 and frame.columns[0] in TIME_FIELDS:
        frame = frame.set_index(frame.columns[0])
    return frame


def _list_of(answer: Mapping[str, Any]) -> list[Any]:
    for value in answer.values():
        if isinstance(value, list) and all(isinstance(row, Mapping) for row in value):
            return value
    raise TypeError("this answer has no list of rows")


def _all_rows(
    page: Callable[[str | None], Mapping[str, Any]], field: str, next_field: str, at: str | None
) -> Iterator[Any]:
    while True:
        answer = page(at)
        yield from answer[field]
        after = answer[next_field]
        # Events have no last page: at the end the place stays the same.
        if after is None or after == at:
            return
        at = after


async def _all_rows_async(
    page: Callable[[str | None], Awaitable[Mapping[str, Any]]],
    field: str,
    next_field: str,
    at: str | None,
) -> AsyncIterator[Any]:
    while True:
        answer = await page(at)
        for row in answer[field]:
            yield row
        after = answer[next_field]
        if after is None or after == at:
            return
        at = after
