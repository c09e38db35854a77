"""Images: checked without decoding them, then measured, and each measure mapped to a score from 1 to 5.

A file must be whole. PNG: every chunk's checksum (ISO 15948). JPEG: the chain of markers up to the end-of-image marker
(ITU T.81, annex B). WebP: the sizes of the container and its chunks (RFC 9649). All three are what chat endpoints take.

What is measured is luminance in [0, 1], shape (height, width). The extra `images` brings the decoder and some measures;
it is imported when the first image comes. The mappings are logistics, fitted by scripts/fit_image_tools.py.
"""

import io
import struct
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt

from pipeline.assess.config import ImageLimits
from pipeline.errors import InvalidInputError, PipelineError, needs_extra
from pipeline.judge.fusion import LogisticMapping
from pipeline.llm.chat_model import ImagePart

MIN_SIDE = 32
"""Least width and height in pixels: less shows no distortion."""


@dataclass(frozen=True, slots=True)
class Image(ImagePart):
    """A whole PNG, JPEG or WebP file within the limits, and its path in the request, for example `images[0]`."""

    path: str
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
    image = Image(media_type, file, path, width, height)
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


class ImageTool(StrEnum):
    """What can be measured on an image. The first two need a reference."""

    SSIM = "ssim"
    PSNR = "psnr"
    BLUR = "blur"
    NOISE = "noise"
    BLOCKINESS = "blockiness"


MAPPINGS = {
    ImageTool.SSIM: LogisticMapping(4.724, 26.08, 1.0, 2.13, 2.797),
    ImageTool.PSNR: LogisticMapping(-0.4566, 0.585, 31.0, 0.2025, -2.778),
    ImageTool.BLUR: LogisticMapping(-2.674, 16.05, 0.4037, -1.071, 4.07),
    ImageTool.NOISE: LogisticMapping(-3.082, 212.2, 0.01337, -15.05, 3.974),
    ImageTool.BLOCKINESS: LogisticMapping(-2.686, 16.58, 0.06197, -1.423, 4.167),
}
"""The first two meet published edges of the levels within 0.1. The others were fitted to SSIM's scores of seven
photographs in steps of their one distortion. On photographs that were left out they are off by 0.62, 0.28 and 0.34
(root mean square). They rank the steps with a Spearman correlation of 1.00, 0.99 and 0.99. No human scores went in."""


Float64 = npt.NDArray[np.float64]

_MOST_8_BIT, _MOST_16_BIT = 255.0, 65_535.0
_REC_601 = np.array([0.299, 0.587, 0.114])  # luminance as JPEG and SSIM's authors compute it


class MissingImageToolsError(PipelineError):
    """The extra `images` is not installed."""

    def __init__(self) -> None:
        super().__init__(f"measuring images {needs_extra('images')}")


def decode(image: Image) -> Float64:
    """Returns the luminance of a checked image, shape (height, width), in [0, 1]. Raises as `_opened` does.

    Reads 16 bits a pixel as such, and shows what is transparent on white, as viewers do.
    """
    with _opened(image) as picture:
        from PIL import Image as Pillow  # noqa: PLC0415 - extra

        if picture.mode.startswith("I"):
            return np.asarray(picture, dtype=np.float64) / _MOST_16_BIT
        shown = picture.convert("RGBA" if picture.has_transparency_data else "RGB")
        if picture.has_transparency_data:
            shown = Pillow.alpha_composite(Pillow.new("RGBA", picture.size, "white"), shown).convert("RGB")
        return np.asarray(np.asarray(shown, dtype=np.float64) @ _REC_601 / _MOST_8_BIT, dtype=np.float64)


Box = tuple[float, float, float, float]
"""Left, top, right and bottom, as shares of width and height."""


def crop(image: Image, box: Box) -> Image | None:
    """Returns a part of an image as a PNG; None if it is too small to show a distortion. Raises as `_opened` does.

    Left and top move outwards to a multiple of 8 pixels, so that the blocks of a JPEG begin where they did.
    """
    left, top = int(box[0] * image.width) // BLOCK * BLOCK, int(box[1] * image.height) // BLOCK * BLOCK
    right, bottom = round(box[2] * image.width), round(box[3] * image.height)
    if min(right - left, bottom - top) < MIN_SIDE:
        return None
    with _opened(image) as picture:
        file = io.BytesIO()
        picture.crop((left, top, right, bottom)).save(file, "PNG")
    return Image("image/png", file.getvalue(), image.path, right - left, bottom - top)


@contextmanager
def _opened(image: Image) -> Iterator[Any]:
    """Opens an image with Pillow.

    Raises:
        InvalidInputError: the file's data are damaged inside.
        MissingImageToolsError: the extra `images` is not installed.
    """
    if find_spec("skimage") is None or find_spec("PIL") is None:
        raise MissingImageToolsError
    from PIL import Image as Pillow  # noqa: PLC0415 - extra

    try:
        with Pillow.open(io.BytesIO(image.data), formats=("PNG", "JPEG", "WEBP")) as picture:
            if picture.size != (image.width, image.height):
                raise ValueError(picture.size)  # noqa: TRY301 - as its decoders do
            yield picture
    except (OSError, ValueError, SyntaxError, Pillow.DecompressionBombError) as error:  # what its decoders raise
        raise InvalidInputError(image.path, "an image that can be decoded", type(error).__name__) from None


BLOCK = 8  # pixels: the side of a JPEG block
HIGHEST_PSNR = 100.0
_MAD_TO_SIGMA = 0.6745  # median of |x| of a standard normal distribution


def ssim(image: Float64, reference: Float64) -> float:
    """Structural similarity in [-1, 1], 1 for equal images; with the window and constants of Wang et al. 2004."""
    from skimage.metrics import structural_similarity  # noqa: PLC0415 - extra

    return float(
        structural_similarity(
            reference, image, data_range=1.0, gaussian_weights=True, sigma=1.5, use_sample_covariance=False
        )
    )


def psnr(image: Float64, reference: Float64) -> float:
    """Peak signal to noise ratio in dB, at most 100, which equal images have."""
    error = float(np.mean((image - reference) ** 2))
    return HIGHEST_PSNR if error == 0 else min(HIGHEST_PSNR, float(-10 * np.log10(error)))


def blur(image: Float64) -> float:
    """Perceptual blur in [0, 1], 0 for a sharp image (Crete et al. 2007): how little another blur would change."""
    from skimage.measure import blur_effect  # noqa: PLC0415 - extra

    # A flat image is divided by its own variation, 0. It shows no edge, so no blur either.
    return 0.0 if np.ptp(image) == 0 else float(blur_effect(image))


def noise(image: Float64) -> float:
    """Standard deviation of Gaussian noise, estimated from the finest diagonal details (Donoho and Johnstone 1994).

    Those of the Haar wavelet: half the difference of the two diagonals of each 2 x 2 square.
    In [0, 1.4826], which a checkerboard of 0 and 1 has.
    """
    height, width = (side - side % 2 for side in image.shape)
    square = image[:height, :width]
    details = (square[::2, ::2] - square[::2, 1::2] - square[1::2, ::2] + square[1::2, 1::2]) / 2
    return float(np.median(np.abs(details)) / _MAD_TO_SIGMA)


def blockiness(image: Float64) -> float:
    """How much more an image jumps at the borders of 8 x 8 blocks than elsewhere, in [0, 1]; 0 for not more.

    Mean step across borders against mean step inside, along both axes (after Wang, Bovik and Evans 2000), as
    (border - inside) / (border + inside). Blocks begin at the top left corner: a cropped JPEG goes unnoticed.
    """
    ratios = []
    for steps in (np.abs(np.diff(image, axis=1)), np.abs(np.diff(image, axis=0)).T):
        is_border = np.arange(1, steps.shape[1] + 1) % BLOCK == 0
        border, inside = float(steps[:, is_border].mean()), float(steps[:, ~is_border].mean())
        ratios.append((border - inside) / (border + inside) if border + inside > 0 else 0.0)
    return max(0.0, sum(ratios) / len(ratios))


COMPARING = (ImageTool.SSIM, ImageTool.PSNR)
"""The tools that need a reference."""

_MEASURES: dict[ImageTool, Callable[..., float]] = {
    ImageTool.SSIM: ssim,
    ImageTool.PSNR: psnr,
    ImageTool.BLUR: blur,
    ImageTool.NOISE: noise,
    ImageTool.BLOCKINESS: blockiness,
}


def measure_image(
    image: Image, reference: Image | None = None, tools: Sequence[ImageTool] = tuple(ImageTool)
) -> dict[ImageTool, float]:
    """Measures an image with the tools asked for, each on its own scale, in the order of `ImageTool`.

    Without a reference, those that need one are left out. Takes 0.1 s for a megapixel: run it where it holds nobody up.
    Raises as `_opened` and `Image.check_reference` do.
    """
    pixels = [decode(image)]
    if reference is not None:
        image.check_reference(reference)
        pixels.append(decode(reference))
    needed = {tool: 2 if tool in COMPARING else 1 for tool in ImageTool if tool in tools}
    return {tool: _MEASURES[tool](*pixels[:count]) for tool, count in needed.items() if count <= len(pixels)}
