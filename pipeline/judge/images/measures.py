"""What tools measure on images, each on its own scale. Images are luminance in [0, 1], shape (height, width)."""

import numpy as np

from pipeline.judge.images.pixels import Float64

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

    Those of the Haar wavelet: half the difference of the two diagonals of each 2 x 2 square. In [0, 0.75].
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
