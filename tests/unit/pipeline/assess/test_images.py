import io
import struct
import zlib
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image as Pillow
from scipy.ndimage import gaussian_filter

from pipeline.assess import images as images_module
from pipeline.assess.config import ImageLimits
from pipeline.assess.images import (
    HIGHEST_PSNR,
    MAPPINGS,
    BrokenImageError,
    Float64,
    ImageTool,
    MissingImageToolsError,
    blockiness,
    blur,
    decode,
    measure_image,
    noise,
    psnr,
    read_header,
    read_image,
    read_images,
    ssim,
)
from pipeline.errors import InvalidInputError
from scripts.fit_image_tools import PSNR_EDGES, SSIM_EDGES
from tests.unit.pipeline.assess.pictures import encoded, image, scene

PNG, JPEG = encoded(scene()), encoded(scene(), "JPEG", quality=80)
WEBP, LOSSLESS_WEBP = encoded(scene(), "WEBP", quality=80), encoded(scene(), "WEBP", lossless=True)


@pytest.mark.parametrize(
    ("file", "media_type"),
    [(PNG, "image/png"), (JPEG, "image/jpeg"), (WEBP, "image/webp"), (LOSSLESS_WEBP, "image/webp")],
)
def test_type_and_size_are_read(file: bytes, media_type: str) -> None:
    image = read_image(file, ImageLimits(), path="images[0]")
    assert (image.media_type, image.width, image.height) == (media_type, 128, 128)


@given(st.sampled_from([PNG, JPEG, WEBP, LOSSLESS_WEBP]), st.data())
def test_a_file_that_ends_too_early_is_refused(file: bytes, data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(file) - 3))
    with pytest.raises(InvalidInputError) as caught:
        read_image(file[:cut], ImageLimits(), path="images[2]")
    assert caught.value.field == "images[2]"


@given(st.integers(8, len(PNG) - 1), st.integers(1, 255))
def test_one_wrong_byte_of_a_png_is_found(place: int, change: int) -> None:
    damaged = bytearray(PNG)
    damaged[place] ^= change
    with pytest.raises(BrokenImageError):
        read_header(bytes(damaged))


@given(st.binary(max_size=200), st.sampled_from([b"", b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"RIFF\0\0\0\0WEBPVP8 "]))
def test_any_bytes_are_an_image_or_an_input_error(garbage: bytes, beginning: bytes) -> None:
    with pytest.raises(InvalidInputError, match="whole PNG, JPEG or WebP"):
        read_image(beginning + garbage, ImageLimits(), path="images[0]")


def test_a_file_over_the_limit_is_refused_before_it_is_read() -> None:
    with pytest.raises(InvalidInputError, match=f"at most 1000 bytes, got {len(PNG)} bytes"):
        read_image(PNG, ImageLimits(max_bytes=1000), path="images[0]")


def test_an_image_of_too_many_pixels_is_refused_by_its_header() -> None:
    with pytest.raises(InvalidInputError, match="128 x 128"):
        read_image(PNG, ImageLimits(max_pixels=128 * 127), path="images[0]")


def test_an_image_too_small_to_show_anything_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="at least 32 pixels"):
        read_image(encoded(scene(16)), ImageLimits(), path="images[0]")


def test_too_many_images_are_refused_together() -> None:
    with pytest.raises(InvalidInputError, match="at most 4 images") as caught:
        read_images([PNG] * 5, ImageLimits())
    assert caught.value.field == "images"


def noisy(pixels: Float64, sigma: float) -> Float64:
    return np.clip(pixels + np.random.default_rng(3).normal(0, sigma, pixels.shape), 0, 1)


def test_equal_images_have_the_best_scores() -> None:
    measured = measure_image(image(scene()), image(scene(), path="reference"))
    assert measured[ImageTool.SSIM] == pytest.approx(1)
    assert measured[ImageTool.PSNR] == HIGHEST_PSNR
    assert MAPPINGS[ImageTool.SSIM](measured[ImageTool.SSIM]) > 4.8
    assert MAPPINGS[ImageTool.PSNR](HIGHEST_PSNR) == 5.0


def test_tools_that_need_a_reference_are_left_out_without_one() -> None:
    tools = [*measure_image(image(scene()))]
    assert tools == [ImageTool.BLUR, ImageTool.NOISE, ImageTool.BLOCKINESS]


def test_psnr_is_the_formula() -> None:
    dark, light = np.full((64, 64), 0.5), np.full((64, 64), 0.6)
    assert psnr(light, dark) == pytest.approx(20.0)  # 10 log10(1 / 0.1^2)


def test_noise_is_the_deviation_that_was_added() -> None:
    flat = np.full((256, 256), 0.5)
    for sigma in (0.01, 0.03, 0.1):
        assert noise(noisy(flat, sigma)) == pytest.approx(sigma, rel=0.03)


def test_more_blur_measures_as_more_blur_and_scores_lower() -> None:
    values = [blur(gaussian_filter(scene(), sigma)) for sigma in (0.0, 1.0, 2.0, 4.0)]
    assert values == sorted(values)
    scores = [MAPPINGS[ImageTool.BLUR](value) for value in values]
    assert scores == sorted(scores, reverse=True)
    assert scores[0] - scores[-1] > 1


def test_stronger_compression_measures_as_more_blocks() -> None:
    values = [blockiness(decode(image(scene(), "JPEG", quality=quality))) for quality in (95, 40, 10)]
    assert values == sorted(values)
    assert values[-1] > values[0] + 0.2


def test_blocks_on_another_grid_are_not_counted() -> None:
    jpeg = decode(image(scene(), "JPEG", quality=10))
    assert blockiness(jpeg[4:, 4:]) < 0.5 * blockiness(jpeg)


@pytest.mark.parametrize("flat", [0.0, 0.5, 1.0])
def test_an_image_without_content_gets_numbers_and_no_warning(flat: float) -> None:
    grey = image(np.full((64, 64), flat))
    for tool, value in measure_image(grey, grey).items():
        assert np.isfinite(value)
        assert 1 <= MAPPINGS[tool](value) <= 5


@pytest.mark.parametrize(("tool", "edges"), [(ImageTool.SSIM, SSIM_EDGES), (ImageTool.PSNR, PSNR_EDGES)])
def test_the_mappings_meet_the_published_edges(tool: ImageTool, edges: tuple[float, ...]) -> None:
    assert [MAPPINGS[tool](edge) for edge in edges] == pytest.approx([1.5, 2.5, 3.5, 4.5], abs=0.11)


@pytest.mark.parametrize(
    ("tool", "values"),
    [
        (ImageTool.SSIM, np.linspace(-1, 1, 201)),
        (ImageTool.PSNR, np.linspace(0, 100, 201)),
        (ImageTool.BLUR, np.linspace(1, 0, 201)),
        (ImageTool.NOISE, np.linspace(0.75, 0, 201)),
        (ImageTool.BLOCKINESS, np.linspace(1, 0, 201)),
    ],
)
def test_a_better_value_never_scores_lower(tool: ImageTool, values: Float64) -> None:
    scores = [MAPPINGS[tool](value) for value in values]
    assert scores == sorted(scores)
    assert scores[0] < 2
    assert scores[-1] > 4.3


def test_ssim_falls_with_every_distortion() -> None:
    original = scene()
    assert ssim(noisy(original, 0.1), original) < ssim(noisy(original, 0.02), original) < 1
    assert ssim(gaussian_filter(original, 3), original) < ssim(gaussian_filter(original, 1), original) < 1


def test_a_reference_of_another_size_is_refused_by_name() -> None:
    with pytest.raises(InvalidInputError, match="128 x 128") as caught:
        measure_image(image(scene()), image(scene(64), path="reference"))
    assert caught.value.field == "reference"


def test_a_file_that_is_whole_but_cannot_be_decoded_is_the_callers_error() -> None:
    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    header = chunk(b"IHDR", struct.pack(">IIBBBBB", 64, 64, 8, 0, 0, 0, 0))
    file = b"\x89PNG\r\n\x1a\n" + header + chunk(b"IDAT", b"no deflated data") + chunk(b"IEND", b"")
    with pytest.raises(InvalidInputError, match="can be decoded") as caught:
        decode(read_image(file, ImageLimits(), path="images[0]"))
    assert caught.value.field == "images[0]"


def file_of(picture: Pillow.Image) -> bytes:
    buffer = io.BytesIO()
    picture.save(buffer, "PNG")
    return buffer.getvalue()


def test_every_kind_of_pixel_is_read_as_it_looks() -> None:
    grey = np.round(scene(64) * 255).astype(np.uint8)
    plain = Pillow.fromarray(grey)
    clear = Pillow.new("RGBA", (64, 64), (0, 0, 0, 0))
    kinds = {
        "8 bit": plain,
        "16 bit": Pillow.fromarray(grey.astype(np.uint16) * 257),
        "colour": plain.convert("RGB"),
        "palette": plain.convert("P"),
        "opaque": plain.convert("RGBA"),
    }
    for kind, picture in kinds.items():
        pixels = decode(read_image(file_of(picture), ImageLimits(), path=kind))
        assert pixels == pytest.approx(grey / 255, abs=0.005), kind
    assert decode(read_image(file_of(clear), ImageLimits(), path="clear")).min() == 1.0  # transparent is white


def test_without_the_extra_the_error_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(images_module, "find_spec", lambda _: None)
    with pytest.raises(MissingImageToolsError, match="scripts/setup images"):
        measure_image(image(scene()))


def test_a_picture_that_is_larger_than_its_header_said_is_refused() -> None:
    told = replace(image(scene()), width=64)
    with pytest.raises(InvalidInputError, match="can be decoded"):
        decode(told)
