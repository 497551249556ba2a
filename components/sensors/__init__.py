"""sensors"""
__all__: list[str] = []
