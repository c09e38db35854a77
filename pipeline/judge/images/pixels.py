"""Decodes images to luminance. The extra `images` brings the decoder; it is imported when the first image comes."""

import io
from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt

from pipeline.errors import InvalidInputError, PipelineError
from pipeline.judge.images.image import Image

Float64 = npt.NDArray[np.float64]

_MOST_8_BIT, _MOST_16_BIT = 255.0, 65_535.0
_REC_601 = np.array([0.299, 0.587, 0.114])  # luminance as JPEG and SSIM's authors compute it


class MissingImageToolsError(PipelineError):
    """The extra `images` is not installed."""

    def __init__(self) -> None:
        super().__init__("measuring images needs the extra `images`: pip install 'precis[images]'")


def has_image_tools() -> bool:
    """Tells whether the extra `images` is installed, without loading it."""
    return find_spec("skimage") is not None and find_spec("PIL") is not None


def decode(image: Image) -> Float64:
    """Returns the luminance of a checked image.

    Returns:
        Shape (height, width), in [0, 1].

    Raises:
        InvalidInputError: the file's data are damaged inside.
        MissingImageToolsError: the extra `images` is not installed.
    """
    if not has_image_tools():
        raise MissingImageToolsError
    from PIL import Image as Pillow  # noqa: PLC0415 - extra

    try:
        with Pillow.open(io.BytesIO(image.data), formats=("PNG", "JPEG", "WEBP")) as picture:
            return _luminance(picture)
    except (OSError, ValueError, SyntaxError, Pillow.DecompressionBombError) as error:  # what its decoders raise
        raise InvalidInputError(image.path, "an image that can be decoded", type(error).__name__) from None


def _luminance(picture: Any) -> Float64:  # noqa: ANN401 - of Pillow, which is an extra
    """Reads 16 bits a pixel as such, and shows what is transparent on white, as viewers do."""
    from PIL import Image as Pillow  # noqa: PLC0415 - extra

    if picture.mode.startswith("I"):
        return np.asarray(picture, dtype=np.float64) / _MOST_16_BIT
    if picture.has_transparency_data:
        white = Pillow.new("RGBA", picture.size, "white")
        picture = Pillow.alpha_composite(white, picture.convert("RGBA"))
    pixels = np.asarray(picture.convert("RGB"), dtype=np.float64)
    return np.asarray(pixels @ _REC_601 / _MOST_8_BIT, dtype=np.float64)
