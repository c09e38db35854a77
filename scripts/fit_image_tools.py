"""Fits the mappings in pipeline/assess/images.py and says how well they do. Needs the extra `images`.

SSIM and PSNR are fitted to the level edges of published tables. The tools that have no reference are fitted to what
SSIM says. The pictures are scikit-image's, blurred, made noisy and compressed in steps; errors are of pictures that
were left out of the fit.
"""

import io
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import skimage
from PIL import Image as Pillow
from scipy.ndimage import gaussian_filter
from scipy.optimize import least_squares
from scipy.stats import spearmanr

from pipeline.assess.config import ImageLimits
from pipeline.assess.images import (
    MAPPINGS,
    Float64,
    ImageTool,
    blockiness,
    blur,
    decode,
    noise,
    read_image,
    ssim,
)
from pipeline.judge.fusion import LogisticMapping, level_of

SSIM_EDGES = (0.5, 0.88, 0.95, 0.99)
"""Between Bad and Poor, Poor and Fair, Fair and Good, Good and Excellent: Zinner et al., QoMEX 2010."""

PSNR_EDGES = (20.0, 25.0, 31.0, 37.0)
"""The same in dB: Klaue et al., EvalVid, TOOLS 2003."""

PICTURES = (
    "astronaut.png",
    "camera.png",
    "chelsea.png",
    "coffee.png",
    "motorcycle_left.png",
    "rocket.jpg",
    "coins.png",
)
LEFT_OUT = (
    *("brick.png", "grass.png", "gravel.png", "moon.png"),
    *("retina.jpg", "ihc.png", "hubble_deep_field.jpg", "clock_motion.png"),
)
BLURS = (0.0, 0.4, 0.6, 0.8, 1.0, 1.3, 1.6, 2.0, 2.5, 3.0, 4.0, 6.0)  # standard deviations in pixels
NOISES = (0.0, 0.004, 0.008, 0.012, 0.02, 0.03, 0.05, 0.08, 0.12, 0.18, 0.25)  # of the luminance range
QUALITIES = (100, 95, 90, 80, 70, 60, 50, 40, 30, 20, 15, 10, 5, 2)  # of JPEG
ENDS = {ImageTool.SSIM: [(0.0, 1.0), (1.0, 5.0)], ImageTool.PSNR: [(12.0, 1.0), (45.0, 5.0)]}  # where the scale ends
STEEPEST = 60.0  # of b2 times the range of the values: steeper is a step, which no measurement is

ALONE: dict[ImageTool, Callable[[Float64], float]] = {
    ImageTool.BLUR: blur,
    ImageTool.NOISE: noise,
    ImageTool.BLOCKINESS: blockiness,
}  # without a reference

Points = list[tuple[float, float]]  # measured value, score in [1, 5]


def main() -> None:
    """Prints the parameters of every tool, fitted anew, and the errors."""
    for tool, edges in ((ImageTool.SSIM, SSIM_EDGES), (ImageTool.PSNR, PSNR_EDGES)):
        points = [(value, level + 0.5) for level, value in enumerate(edges, start=1)]
        fitted = fit([*points, *ENDS[tool]], start=tool)
        print(f"{tool.value}: {_show(fitted)}; at the edges {[round(fitted(value), 2) for value in edges]}")
    pictures = [_picture(name) for name in PICTURES]
    series: dict[ImageTool, Callable[[Float64], Iterator[tuple[float, float]]]] = {
        ImageTool.BLUR: lambda picture: _degraded(picture, [_blurred(picture, s) for s in BLURS], blur),
        ImageTool.NOISE: lambda picture: _degraded(picture, [_noisy(picture, s) for s in NOISES], noise),
        ImageTool.BLOCKINESS: lambda picture: _degraded(picture, [_jpeg(picture, q) for q in QUALITIES], blockiness),
    }
    for tool, degrade in series.items():
        by_picture = [list(degrade(picture)) for picture in pictures]
        _report(tool, by_picture)
    _report_fusion("fitted to", pictures)
    _report_fusion("left out", [_picture(name)[:512, :512] for name in LEFT_OUT])


def _report_fusion(name: str, pictures: list[Float64]) -> None:
    """Compares the mean and the worst of the three scores with that of SSIM, which has the original."""
    means, worsts, right = [], [], []
    for picture in pictures:
        images = [_blurred(picture, s) for s in BLURS] + [_noisy(picture, s) for s in NOISES]
        for image in [*images, *(_jpeg(picture, q) for q in QUALITIES)]:
            scores = [MAPPINGS[tool](measure(image)) for tool, measure in ALONE.items()]
            means.append(float(np.mean(scores)))
            worsts.append(min(scores))
            right.append(MAPPINGS[ImageTool.SSIM](ssim(image, picture)))
    for fused, values in (("mean", means), ("worst", worsts)):
        rmse = float(np.sqrt(np.mean(np.square(np.subtract(values, right)))))
        same = np.mean([level_of(one) is level_of(other) for one, other in zip(values, right, strict=True)])
        print(f"{name}, {fused} of the tools: RMSE {rmse:.2f}, right level {same:.2f} of {len(values)} images")


def fit(points: Sequence[tuple[float, float]], *, start: ImageTool) -> LogisticMapping:
    """Returns the least-squares mapping, from the present one on."""
    present = MAPPINGS[start]
    values, scores = np.array(points).T

    def residuals(parameters: Float64) -> Float64:
        mapping = LogisticMapping(*parameters)
        mapped = np.array([mapping(value) for value in values], dtype=np.float64)
        return np.asarray(mapped - scores, dtype=np.float64)

    first = (present.b1, present.b2, present.b3, present.b4, present.b5)
    steepest = STEEPEST / float(np.ptp(values))
    bounds = (
        [-np.inf, 0, float(values.min()), -np.inf, -np.inf],
        [np.inf, steepest, float(values.max()), np.inf, np.inf],
    )
    best = least_squares(residuals, np.clip(first, *bounds), bounds=bounds, x_scale="jac")
    return LogisticMapping(*(float(b) for b in best.x))


def _report(tool: ImageTool, by_picture: list[Points]) -> None:
    whole = [point for points in by_picture for point in points]
    errors, rhos = [], []
    for index, held_out in enumerate(by_picture):
        others = [point for other, points in enumerate(by_picture) if other != index for point in points]
        mapping = fit(others, start=tool)
        errors += [mapping(value) - score for value, score in held_out]
        rhos.append(spearmanr(*zip(*held_out, strict=True)).statistic)
    rmse = float(np.sqrt(np.mean(np.square(errors))))
    print(f"{tool.value}: {_show(fit(whole, start=tool))}; left-out RMSE {rmse:.2f}, Spearman {-np.mean(rhos):.2f}")


def _degraded(
    picture: Float64, images: list[Float64], measure: Callable[[Float64], float]
) -> Iterator[tuple[float, float]]:
    for image in images:
        yield measure(image), MAPPINGS[ImageTool.SSIM](ssim(image, picture))


def _picture(name: str) -> Float64:
    path = Path(skimage.__file__).parent / "data" / name
    return decode(read_image(path.read_bytes(), ImageLimits(), path=name))


def _blurred(picture: Float64, sigma: float) -> Float64:
    return np.asarray(gaussian_filter(picture, sigma), dtype=np.float64)


def _noisy(picture: Float64, sigma: float) -> Float64:
    return np.clip(picture + np.random.default_rng(7).normal(0, sigma, picture.shape), 0, 1)


def _jpeg(picture: Float64, quality: int) -> Float64:
    buffer = io.BytesIO()
    Pillow.fromarray(np.round(picture * 255).astype(np.uint8)).save(buffer, "JPEG", quality=quality)
    return decode(read_image(buffer.getvalue(), ImageLimits(), path="jpeg"))


def _show(mapping: LogisticMapping) -> str:
    return ", ".join(f"{b:.4g}" for b in (mapping.b1, mapping.b2, mapping.b3, mapping.b4, mapping.b5))


if __name__ == "__main__":
    main()
