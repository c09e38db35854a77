"""An image of the caller, checked without decoding it: is the file whole, and how large is the image?

PNG: every chunk's checksum (ISO 15948). JPEG: the chain of markers up to the end-of-image marker (ITU T.81, annex B).
WebP: the sizes of the container and its chunks (RFC 9649). All three are what chat endpoints take.
"""

import struct
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from pydantic import Field

from pipeline.errors import InvalidInputError
from pipeline.frozen import FrozenModel


class ImageLimits(FrozenModel):
    """What images one request may bring. More is an InvalidInputError."""

    max_images: int = Field(default=4, ge=0, description="Images of one request.")
    max_bytes: int = Field(default=5 << 20, ge=1, description="Bytes of one file; endpoints take 5 to 20 MB.")
    max_pixels: int = Field(default=16_000_000, ge=1, description="Width times height; a small file may hold many.")


MIN_SIDE = 32
"""Least width and height in pixels: less shows no distortion."""


@dataclass(frozen=True, slots=True)
class Image:
    """A whole PNG, JPEG or WebP file within the limits, and its path in the request, for example `images[0]`."""

    path: str
    data: bytes = field(repr=False)
    media_type: str
    width: int
    height: int

    @property
    def size(self) -> str:
        """Width and height in words."""
        return f"{self.width} x {self.height}"

    def check_reference(self, reference: "Image") -> None:
        """Raises InvalidInputError unless a reference is as large as the image."""
        if reference.size != self.size:
            raise InvalidInputError(reference.path, f"the size of {self.path}, {self.size}", reference.size)


def read_images(files: Sequence[bytes], limits: ImageLimits, *, path: str = "images") -> tuple[Image, ...]:
    """Checks all images of a request. Raises InvalidInputError: too many, or one breaks a rule."""
    if len(files) > limits.max_images:
        raise InvalidInputError(path, f"at most {limits.max_images} images", f"{len(files)}")
    return tuple(read_image(file, limits, path=f"{path}[{index}]") for index, file in enumerate(files))


def read_image(file: bytes, limits: ImageLimits, *, path: str) -> Image:
    """Checks one image: its size first, then that the file is whole. Raises InvalidInputError."""
    if len(file) > limits.max_bytes:
        raise InvalidInputError(path, f"at most {limits.max_bytes} bytes", f"{len(file)} bytes")
    try:
        media_type, width, height = read_header(file)
    except BrokenImageError as error:
        raise InvalidInputError(path, "a whole PNG, JPEG or WebP file", f"{len(file)} bytes: {error}") from None
    image = Image(path, file, media_type, width, height)
    if image.width * image.height > limits.max_pixels:
        raise InvalidInputError(path, f"at most {limits.max_pixels} pixels", image.size)
    if min(image.width, image.height) < MIN_SIDE:
        raise InvalidInputError(path, f"at least {MIN_SIDE} pixels in width and height", image.size)
    return image


_PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_JPEG_SIGNATURE = b"\xff\xd8\xff"
_JPEG_END = b"\xff\xd9"
_STANDALONE = {0x01, *range(0xD0, 0xD9)}  # JPEG markers without a length
_FRAMES = {*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC}  # start of frame; the other three are tables
_START_OF_SCAN = 0xDA


class BrokenImageError(Exception):
    """The file is no image that we know, or not all of one. Its message never holds bytes of the file."""


def read_header(data: bytes) -> tuple[str, int, int]:
    """Returns media type, width and height of a whole file. Raises BrokenImageError: another format, or damaged."""
    for is_ours, media_type, size_of in _FORMATS:
        if is_ours(data):
            try:
                width, height = size_of(data)
            except (struct.error, IndexError):
                raise BrokenImageError("the file ends too early") from None
            if not width or not height:
                raise BrokenImageError("the image has no pixels")
            return media_type, width, height
    raise BrokenImageError("the file is no PNG, JPEG or WebP")


def _png_size(data: bytes) -> tuple[int, int]:
    position, kinds = len(_PNG_SIGNATURE), set[bytes]()
    while b"IEND" not in kinds:
        length, kind = struct.unpack_from(">I4s", data, position)
        body_end = position + 8 + length
        (checksum,) = struct.unpack_from(">I", data, body_end)
        if zlib.crc32(data[position + 4 : body_end]) != checksum:
            raise BrokenImageError("a checksum of the PNG does not match")
        kinds.add(kind)
        position = body_end + 4
    if data[12:16] != b"IHDR" or b"IDAT" not in kinds:
        raise BrokenImageError("the PNG has no header or no data")
    width, height = struct.unpack_from(">II", data, 16)
    return width, height


def _jpeg_size(data: bytes) -> tuple[int, int]:
    position, size = 2, None
    while True:
        if data[position] != 0xFF:  # noqa: PLR2004 - begins every marker
            raise BrokenImageError("the JPEG has no marker where one must be")
        marker = data[position + 1]
        if marker == 0xFF:  # noqa: PLR2004 - a fill byte
            position += 1
            continue
        if marker in _STANDALONE:
            position += 2
            continue
        (length,) = struct.unpack_from(">H", data, position + 2)
        if marker in _FRAMES:
            height, width = struct.unpack_from(">HH", data, position + 5)
            size = width, height
        if marker == _START_OF_SCAN:
            break
        position += 2 + length
    if size is None or data.rfind(_JPEG_END) < position:
        raise BrokenImageError("the JPEG ends too early")
    return size


def _webp_size(data: bytes) -> tuple[int, int]:
    (length,) = struct.unpack_from("<I", data, 4)
    if length + 8 > len(data):
        raise BrokenImageError("the WebP ends too early")
    match data[12:16]:
        case b"VP8 ":
            if data[23:26] != b"\x9d\x01\x2a":
                raise BrokenImageError("the WebP has no key frame")
            width, height = struct.unpack_from("<HH", data, 26)
            return width & 0x3FFF, height & 0x3FFF
        case b"VP8L":
            (bits,) = struct.unpack_from("<I", data, 21)
            return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
        case b"VP8X":
            return int.from_bytes(data[24:27], "little") + 1, int.from_bytes(data[27:30], "little") + 1
    raise BrokenImageError("the WebP holds no image")


_FORMATS: tuple[tuple[Callable[[bytes], bool], str, Callable[[bytes], tuple[int, int]]], ...] = (
    (lambda data: data.startswith(_PNG_SIGNATURE), "image/png", _png_size),
    (lambda data: data.startswith(_JPEG_SIGNATURE), "image/jpeg", _jpeg_size),
    (lambda data: data.startswith(b"RIFF") and data[8:12] == b"WEBP", "image/webp", _webp_size),
)
