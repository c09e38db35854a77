"""Maps positions in a derived text (decoded, normalised) back to the text that the caller sent."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Int32 = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class OffsetMap:
    """Says for each derived character which original characters it comes from.

    Attributes:
        starts: shape (derived characters,); first original character of each, never falling. None: the identity.
        ends: likewise, exclusive. None exactly when `starts` is.
    """

    starts: Int32 | None = None
    ends: Int32 | None = None

    def to_original(self, start: int, end: int) -> tuple[int, int]:
        """Returns the smallest original span that holds everything the derived span comes from.

        Args:
            start: derived position, inclusive.
            end: exclusive, greater than `start`.
        """
        if self.starts is None or self.ends is None:
            return start, end
        return int(self.starts[start]), int(self.ends[end - 1])

    def then(self, later: "OffsetMap") -> "OffsetMap":
        """Returns the map of two steps: this one first, `later` applied to its result."""
        if self.starts is None or self.ends is None:
            return later
        if later.starts is None or later.ends is None:
            return self
        return OffsetMap(self.starts[later.starts], self.ends[later.ends - 1])
