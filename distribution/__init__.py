"""How mbfmu becomes a wheel: the build backend that pyproject.toml names."""
