"""An image of the caller, checked before anything is done with it."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from pydantic import BaseModel, ConfigDict, Field

from pipeline.errors import InvalidInputError
from pipeline.judge.images.header import BrokenImageError, read_header


class ImageLimits(BaseModel):
    """What images one request may bring. More is an InvalidInputError."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    max_images: int = Field(default=4, ge=0, description="Images of one request.")
    max_bytes: int = Field(default=5 << 20, ge=1, description="Bytes of one file; endpoints take 5 to 20 MB.")
    max_pixels: int = Field(default=16_000_000, ge=1, description="Width times height; a small file may hold many.")
    min_side: int = Field(default=32, ge=1, description="Least width and height: less shows no distortion.")


@dataclass(frozen=True, slots=True)
class Image:
    """A whole PNG, JPEG or WebP file within the limits.

    Attributes:
        path: of the file in the request, for example `images[0]`.
        data: the file.
        media_type: for example "image/png".
        width: in pixels.
        height: in pixels.
    """

    path: str
    data: bytes = field(repr=False)
    media_type: str
    width: int
    height: int


def read_images(files: Sequence[bytes], limits: ImageLimits, *, path: str = "images") -> tuple[Image, ...]:
    """Checks all images of a request.

    Raises:
        InvalidInputError: there are too many, or one breaks a rule; the field is `images` or `images[n]`.
    """
    if len(files) > limits.max_images:
        raise InvalidInputError(path, f"at most {limits.max_images} images", f"{len(files)}")
    return tuple(read_image(file, limits, path=f"{path}[{index}]") for index, file in enumerate(files))


def read_image(file: bytes, limits: ImageLimits, *, path: str) -> Image:
    """Checks one image: its size first, then that the file is whole.

    Raises:
        InvalidInputError: it breaks a rule; the field is `path`.
    """
    if len(file) > limits.max_bytes:
        raise InvalidInputError(path, f"at most {limits.max_bytes} bytes", f"{len(file)} bytes")
    try:
        header = read_header(file)
    except BrokenImageError as error:
        raise InvalidInputError(path, "a whole PNG, JPEG or WebP file", f"{len(file)} bytes: {error}") from None
    if header.width * header.height > limits.max_pixels:
        expected, got = f"at most {limits.max_pixels} pixels", f"{header.width} x {header.height}"
        raise InvalidInputError(path, expected, got)
    if min(header.width, header.height) < limits.min_side:
        expected, got = f"at least {limits.min_side} pixels in width and height", f"{header.width} x {header.height}"
        raise InvalidInputError(path, expected, got)
    return Image(path, file, header.media_type, header.width, header.height)
