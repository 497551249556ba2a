"""forces"""
__all__: list[str] = []
