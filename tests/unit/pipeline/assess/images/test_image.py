import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.assess.images.image import BrokenImageError, ImageLimits, read_header, read_image, read_images
from pipeline.errors import InvalidInputError
from tests.unit.pipeline.assess.images.pictures import encoded, scene

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


def test_the_error_names_the_broken_one_of_several() -> None:
    with pytest.raises(InvalidInputError) as caught:
        read_images([PNG, b"GIF89a" + bytes(100)], ImageLimits())
    assert caught.value.field == "images[1]"
