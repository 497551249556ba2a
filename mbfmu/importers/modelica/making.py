"""A model in the making, as the modules that help to make it see it (`model.py` is the one that there is)."""

from __future__ import annotations

import abc
from typing import Any

#: Equations of a model while they are solved (equations.py), and all that is read for one model (session.py).
Equations = Any
Session = Any

#: A class that was found (classes.py).
Found = Any


class Model(abc.ABC):
    """What expressions, equations, parts and connections may ask of a model.

    Its own component and contents, and names in it: `has`, `get` and `names` for expressions, `kind`, `declared`,
    `layers` and `exists` for one name, `of_kind` for all names of a kind.
    """

    name: str
    #: Name below the whole model, '' of that.
    path: str
    session: Any
    found: Any
    node: Any
    parent: Model | None
    component: Any
    content: Any
    #: What names of parts stand for, as far as they are made; names that are being looked at.
    members: dict[str, Any]
    pending: set[str]
    known_values: dict[str, Any]
    #: Inputs of parts that expressions give their values; the connectors that pass these on.
    drives: list[Any]
    given: list[Any]
    #: Initial equations that are no start values of parts; None before the parts are made.
    left_initial: list[Any] | None

    @property
    @abc.abstractmethod
    def is_composite(self) -> bool:
        """Is it made of parts?"""

    @property
    @abc.abstractmethod
    def is_record(self) -> bool:
        """Is it a record?"""

    @property
    @abc.abstractmethod
    def title(self) -> str:
        """How messages call it."""

    @abc.abstractmethod
    def active(self, equations: Any) -> Any:
        """Equations that hold with the present parameters."""

    @abc.abstractmethod
    def attribute(self, name: str, attribute: str) -> Any:
        """An attribute of a name, such as start."""

    @abc.abstractmethod
    def below(self, name: str, found: Any, layers: Any) -> Model:
        """A component of this model that is a model itself."""

    @abc.abstractmethod
    def binding(self, name: str) -> Any:
        """Value that is bound to a name."""

    @abc.abstractmethod
    def declared(self, name: str) -> Any:
        """The declaration of a name."""

    @abc.abstractmethod
    def default_world(self) -> Any:
        """The World of a model without one."""

    @abc.abstractmethod
    def env(self, scope: Any) -> Any:
        """The place of expressions in a class of this model's."""

    @abc.abstractmethod
    def exists(self, name: str) -> bool:
        """Is a name there with the present parameters?"""

    @abc.abstractmethod
    def get(self, name: str, env: Any, node: Any) -> Any:
        """Value of a name."""

    @abc.abstractmethod
    def has(self, name: str) -> bool:
        """Is a name declared?"""

    @abc.abstractmethod
    def kind(self, name: str) -> Any:
        """What a name stands for."""

    @abc.abstractmethod
    def layers(self, name: str) -> Any:
        """Modifiers of a name."""

    @abc.abstractmethod
    def make(self) -> Any:
        """The component."""

    @abc.abstractmethod
    def names(self) -> list[str]:
        """All names."""

    @abc.abstractmethod
    def of_kind(self, *kinds: str) -> list[str]:
        """All names of some kinds."""

    @abc.abstractmethod
    def plugs(self, name: str) -> Any:
        """A connector, or an array of them."""

    @abc.abstractmethod
    def sizes(self, name: str) -> tuple[int, ...]:
        """Dimensions of a name."""
