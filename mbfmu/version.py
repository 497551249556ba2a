"""The version of mbfmu that is installed."""

import importlib.metadata

__version__ = importlib.metadata.version("mbfmu")
