"""translational"""
__all__: list[str] = []
