"""Pictures to measure, made here: a scene that distortions change."""

import io

import numpy as np
from PIL import Image as Pillow

from pipeline.assess.config import ImageLimits
from pipeline.assess.images import Float64, Image, read_image


def scene(side: int = 128) -> Float64:
    """Shading with sharp edges, in [0, 1]: rectangles of all sizes, the same every time."""
    draw = np.random.default_rng(11)
    pixels = np.broadcast_to(np.linspace(0.3, 0.7, side), (side, side)).copy()
    for _ in range(4 * side):
        top, left = draw.integers(0, side, 2)
        height, width = draw.integers(1, max(2, side // 6), 2)
        pixels[top : top + height, left : left + width] += draw.uniform(-0.25, 0.25)
    return np.clip(pixels, 0, 1)


def encoded(pixels: Float64, kind: str = "PNG", **settings: int) -> bytes:
    """Returns a file."""
    buffer = io.BytesIO()
    Pillow.fromarray(np.round(pixels * 255).astype(np.uint8)).save(buffer, kind, **settings)
    return buffer.getvalue()


def image(pixels: Float64, kind: str = "PNG", path: str = "images[0]", **settings: int) -> Image:
    """Returns a checked image."""
    return read_image(encoded(pixels, kind, **settings), ImageLimits(), path=path)
