"""Measures images, and maps each measure to a score from 1 to 5.

Images are luminance in [0, 1], shape (height, width). The extra `images` brings the decoder and some measures; it is
imported when the first image comes. The mappings are logistics, fitted by scripts/fit_image_tools.py.
"""

import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt

from pipeline.assess.images.image import MIN_SIDE, Image
from pipeline.errors import InvalidInputError, PipelineError, needs_extra
from pipeline.judge.fusion import LogisticMapping


class ImageTool(StrEnum):
    """What can be measured on an image. The first two need a reference."""

    SSIM = "ssim"
    PSNR = "psnr"
    BLUR = "blur"
    NOISE = "noise"
    BLOCKINESS = "blockiness"


SSIM_EDGES = (0.5, 0.88, 0.95, 0.99)
"""Between Bad and Poor, Poor and Fair, Fair and Good, Good and Excellent: Zinner et al., QoMEX 2010."""

PSNR_EDGES = (20.0, 25.0, 31.0, 37.0)
"""The same in dB: Klaue et al., EvalVid, TOOLS 2003."""

MAPPINGS = {
    ImageTool.SSIM: LogisticMapping(4.724, 26.08, 1.0, 2.13, 2.797),
    ImageTool.PSNR: LogisticMapping(-0.4566, 0.585, 31.0, 0.2025, -2.778),
    ImageTool.BLUR: LogisticMapping(-2.674, 16.05, 0.4037, -1.071, 4.07),
    ImageTool.NOISE: LogisticMapping(-3.082, 212.2, 0.01337, -15.05, 3.974),
    ImageTool.BLOCKINESS: LogisticMapping(-2.686, 16.58, 0.06197, -1.423, 4.167),
}
"""The first two meet the edges within 0.1. The others were fitted to SSIM's scores of seven photographs in steps of
their one distortion; on photographs that were left out they are off by 0.62, 0.28 and 0.34 (root mean square) and rank
the steps with a Spearman correlation of 1.00, 0.99 and 0.99. No human scores went in."""


Float64 = npt.NDArray[np.float64]

_MOST_8_BIT, _MOST_16_BIT = 255.0, 65_535.0
_REC_601 = np.array([0.299, 0.587, 0.114])  # luminance as JPEG and SSIM's authors compute it


class MissingImageToolsError(PipelineError):
    """The extra `images` is not installed."""

    def __init__(self) -> None:
        super().__init__(f"measuring images {needs_extra('images')}")


def decode(image: Image) -> Float64:
    """Returns the luminance of a checked image, shape (height, width), in [0, 1].

    Raises:
        InvalidInputError: the file's data are damaged inside.
        MissingImageToolsError: the extra `images` is not installed.
    """
    with _opened(image) as picture:
        return _luminance(picture)


Box = tuple[float, float, float, float]
"""Left, top, right and bottom, as shares of width and height."""


def crop(image: Image, box: Box) -> Image | None:
    """Returns a part of an image as a PNG; None if it is too small to show a distortion.

    Left and top move outwards to a multiple of 8 pixels, so that the blocks of a JPEG begin where they did.

    Raises:
        InvalidInputError: the file's data are damaged inside.
        MissingImageToolsError: the extra `images` is not installed.
    """
    left, top = int(box[0] * image.width) // BLOCK * BLOCK, int(box[1] * image.height) // BLOCK * BLOCK
    right, bottom = round(box[2] * image.width), round(box[3] * image.height)
    if min(right - left, bottom - top) < MIN_SIDE:
        return None
    with _opened(image) as picture:
        file = io.BytesIO()
        picture.crop((left, top, right, bottom)).save(file, "PNG")
    return Image(image.path, file.getvalue(), "image/png", right - left, bottom - top)


@contextmanager
def _opened(image: Image) -> Iterator[Any]:
    """Opens an image with Pillow, which is an extra."""
    if find_spec("skimage") is None or find_spec("PIL") is None:
        raise MissingImageToolsError
    from PIL import Image as Pillow  # noqa: PLC0415 - extra

    try:
        with Pillow.open(io.BytesIO(image.data), formats=("PNG", "JPEG", "WEBP")) as picture:
            _check_size(picture, image)
            yield picture
    except (OSError, ValueError, SyntaxError, Pillow.DecompressionBombError) as error:  # what its decoders raise
        raise InvalidInputError(image.path, "an image that can be decoded", type(error).__name__) from None


def _check_size(picture: Any, image: Image) -> None:  # noqa: ANN401 - of Pillow, which is an extra
    """Raises ValueError when the decoder sees another size than was checked."""
    if picture.size != (image.width, image.height):
        raise ValueError(picture.size)


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


@dataclass(frozen=True, slots=True)
class ImageMeasurement:
    """What one tool says of one image: a value on the tool's own scale, and a score in [1, 5]."""

    tool: ImageTool
    value: float
    score: float


def measure_image(
    image: Image, reference: Image | None = None, tools: Sequence[ImageTool] = tuple(ImageTool)
) -> tuple[ImageMeasurement, ...]:
    """Measures an image with the tools asked for, in the order of `ImageTool`.

    Without a reference, those that need one are left out. Takes 0.1 s for a megapixel: run it where it holds nobody up.

    Raises:
        InvalidInputError: damaged inside, or reference and image differ in size.
        MissingImageToolsError: the extra `images` is not installed.
    """
    pixels = [decode(image)]
    if reference is not None:
        image.check_reference(reference)
        pixels.append(decode(reference))
    measured = []
    for tool in ImageTool:
        needed = 2 if tool in COMPARING else 1
        if tool in tools and needed <= len(pixels):
            value = _MEASURES[tool](*pixels[:needed])
            measured.append(ImageMeasurement(tool, value, MAPPINGS[tool](value)))
    return tuple(measured)
