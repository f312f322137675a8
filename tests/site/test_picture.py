"""The picture of the README is the one that the library draws."""

import io

import numpy as np
import picture
from PIL import Image


def test_the_stored_picture_is_current():
    stored, drawn = (
        np.asarray(Image.open(source).convert("RGB"))
        for source in (picture.PICTURE, io.BytesIO(picture.draw()))
    )
    assert stored.shape == drawn.shape, "run `make picture`"
    assert (stored == drawn).all(), "run `make picture`"
