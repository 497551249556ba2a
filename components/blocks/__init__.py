"""blocks"""
__all__: list[str] = []
