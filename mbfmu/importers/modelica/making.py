"""A model in the making, as the modules that help to make it see it (`model.py` is the one that there is)."""

from __future__ import annotations

from typing import Any, Protocol

#: Equations of a model while they are solved (equations.py), and all that is read for one model (session.py).
Equations = Any
Session = Any

#: A class that was found (classes.py).
Found = Any


class Model(Protocol):
    """What expressions, equations, parts and connections may ask of a model.

    Its own component and contents, and names in it: `has`, `get` and `names` for expressions, `kind`, `declared`,
    `layers` and `exists` for one name, `of_kind` for all names of a kind.
    """

    component: Any
    content: Any
    drives: list[Any]
    given: list[Any]
    left_initial: list[Any] | None
    node: Any
    path: str
    session: Any

    @property
    def is_composite(self) -> bool:
        """Is it made of parts?"""
        ...

    @property
    def title(self) -> str:
        """How messages call it."""
        ...

    def active(self, equations: Any) -> Any:
        """Equations that hold with the present parameters."""
        ...

    def declared(self, name: str) -> Any:
        """The declaration of a name."""
        ...

    def exists(self, name: str) -> bool:
        """Is a name there with the present parameters?"""
        ...

    def get(self, name: str, env: Any, node: Any) -> Any:
        """Value of a name."""
        ...

    def has(self, name: str) -> bool:
        """Is a name declared?"""
        ...

    def kind(self, name: str) -> Any:
        """What a name stands for."""
        ...

    def layers(self, name: str) -> Any:
        """Modifiers of a name."""
        ...

    def names(self) -> list[str]:
        """All names."""
        ...

    def of_kind(self, *kinds: str) -> list[str]:
        """All names of some kinds."""
        ...
