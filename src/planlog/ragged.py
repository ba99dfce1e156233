"""Ragged arrays: rows of different lengths, one after the other in flat arrays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Ids = npt.NDArray[np.uint32]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Segments:
    """Division of flat arrays into segments: `segments[i]` is the slice of segment i.

    Classes hold one `Segments` beside all arrays (entries, ...) that it divides.
    """

    offsets: Ids  # (segments + 1,): where each segment begins, and the end of the last

    @classmethod
    def of_lengths(cls, lengths: npt.ArrayLike) -> Segments:
        """Return segments with these numbers of entries."""
        counts = np.asarray(lengths)
        offsets = np.zeros(len(counts) + 1, dtype=np.uint32)
        offsets[1:] = np.cumsum(counts)
        return cls(offsets)

    @classmethod
    def singletons(cls, count: int) -> Segments:
        """Return `count` segments of one entry each."""
        return cls(np.arange(count + 1, dtype=np.uint32))

    @classmethod
    def grouped(cls, keys: npt.NDArray[Any], count: int) -> tuple[Segments, npt.NDArray[np.int64]]:
        """Group entries by their keys (entries,), numbers below `count`.

        Returns the segments and the order of the entries in them, in which equal keys are stable.
        """
        segments = cls.of_lengths(np.bincount(keys, minlength=count))
        return segments, np.argsort(keys, kind="stable")

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, segment: int) -> slice:
        return slice(int(self.offsets[segment]), int(self.offsets[segment + 1]))

    def __iter__(self) -> Iterator[slice]:
        offsets = self.offsets.tolist()
        return map(slice, offsets, offsets[1:])

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """Number of entries of each segment: (segments,)."""
        return np.diff(self.offsets).astype(np.int64)

    @property
    def owners(self) -> Ids:
        """Segment of each entry: (entries,)."""
        return np.repeat(np.arange(len(self), dtype=np.uint32), np.diff(self.offsets))

    def select(self, chosen: npt.NDArray[Any]) -> tuple[Segments, npt.NDArray[np.int64]]:
        """Select segments by their numbers, in the given order, or by a mask (segments,).

        Returns the segments and the numbers of their entries.
        """
        selected = Segments.of_lengths(self.lengths[chosen])
        shifts = self.offsets[:-1][chosen].astype(np.int64) - selected.offsets[:-1]
        entries = np.arange(selected.offsets[-1]) + np.repeat(shifts, selected.lengths)
        return selected, entries

    def filter(self, mask: Mask) -> Segments:
        """Return the segments of those entries whose value in the mask (entries,) is true."""
        kept = np.zeros(len(mask) + 1, dtype=np.uint32)
        np.cumsum(mask, out=kept[1:])
        return Segments(kept[self.offsets])
