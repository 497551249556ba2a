"""How commands show their help."""

from __future__ import annotations

from typing import Any

from typer.core import TyperArgument, TyperCommand, TyperGroup

#: Both ask for help.
HELP = {"help_option_names": ["-h", "--help"]}


class Command(TyperCommand):
    """A command whose help has no `<list[Path]>` beside what says more, and none beside options that take no value."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{**kwargs, "context_settings": {**HELP, **(kwargs.get("context_settings") or {})}})

    def get_params(self, ctx: Any) -> list[Any]:
        """Its parameters; arguments have a name already, and switches take nothing."""
        return _plain(super().get_params(ctx))


class Group(TyperGroup):
    """The program itself, the same."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Its options."""
        return _plain(super().get_params(ctx))


def _plain(parameters: list[Any]) -> list[Any]:
    for one in parameters:
        if isinstance(one, TyperArgument) or getattr(one, "is_flag", False) or one.name == "help":
            vars(one)["display_type_rich"] = lambda ctx: None
    return parameters
