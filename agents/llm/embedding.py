"""Word vectors on this machine, from weights that come with the package: no network, no accelerator, no key."""

import threading
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

MODEL = "wordllama-l2-256"
DIMENSIONS = 256

_loading = threading.Lock()


@cache
def _load() -> Any:
    # Imported on first use: most processes never embed anything.
    import wordllama
    from wordllama import WordLlama

    return WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True, dim=DIMENSIONS)


def embed(texts: Sequence[str]) -> "np.ndarray[Any, Any]":
    """One unit vector per text; a text without a known word gets the zero vector."""
    import numpy as np

    if not texts:
        return np.zeros((0, DIMENSIONS), dtype=np.float32)
    with _loading:
        model = _load()
    vectors = model.embed([text or " " for text in texts], norm=False)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: np.ndarray[Any, Any] = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
    return unit
