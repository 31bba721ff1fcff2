"""Pictures of strangers, drawn anew: what a browser gets was written by us, without what else the file carried."""

import io
import warnings
from typing import Final

from PIL import Image, ImageOps, UnidentifiedImageError

# Decoded at most, and the sides of what is shown.
MAX_PIXELS: Final = 25_000_000
_SHOWN: Final = (1600, 6000)
_FORMATS: Final = ("PNG", "JPEG", "GIF", "WEBP", "BMP")
_CLEAR: Final = frozenset({"RGBA", "LA", "PA", "P"})


class NoPicture(ValueError):
    """It cannot be drawn: no picture that we know, a broken one, or too large a one."""


def redraw(content: bytes) -> tuple[bytes, str]:
    """The picture as PNG or JPEG of our own making, and its type; the first frame of a moving one."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _drawn(content)
    except NoPicture:
        raise
    # Decoders of broken files raise nearly anything.
    except Exception as error:
        raise NoPicture(f"The picture is broken: {type(error).__name__}.") from error


def pixels(content: bytes) -> int:
    """How many pixels a picture says it has, without decoding it; 0 for what is none."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Image.open(io.BytesIO(content), formats=(*_FORMATS, "TIFF")) as picture:
                return picture.width * picture.height
    except Image.DecompressionBombError:
        return MAX_PIXELS * 100
    except Exception:  # noqa: BLE001 - as above
        return 0


def _drawn(content: bytes) -> tuple[bytes, str]:
    try:
        picture = Image.open(io.BytesIO(content), formats=_FORMATS)
    except (UnidentifiedImageError, Image.DecompressionBombError) as error:
        raise NoPicture("It is no picture that is shown here.") from error
    with picture:
        # Before anything is decoded: the header alone says how much memory it wants.
        if not 0 < picture.width * picture.height <= MAX_PIXELS:
            raise NoPicture("The picture has too many pixels.")
        picture.draft("RGB", _SHOWN)
        picture.thumbnail(_SHOWN)
        turned = ImageOps.exif_transpose(picture)
        clear = turned.mode in _CLEAR or "transparency" in turned.info
        written = io.BytesIO()
        if clear:
            turned.convert("RGBA").save(written, "PNG", pnginfo=None)
        else:
            turned.convert("RGB").save(written, "JPEG", quality=85, exif=b"")
    return written.getvalue(), "image/png" if clear else "image/jpeg"
