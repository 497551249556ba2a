"""What pages write to the console of a browser."""

from __future__ import annotations

from typing import Any

#: What Chromium says of each picture that it draws without a GPU.
OF_SOFTWARE = "GPU stall due to ReadPixels"


def entries(browser: Any) -> list[dict[str, Any]]:
    """What came since the last call."""
    return [entry for entry in browser.get_log("browser") if OF_SOFTWARE not in entry["message"]]
