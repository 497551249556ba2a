"""Components of an assembly, each checked and with the World that it sees, and how they are connected."""

from __future__ import annotations

import warnings
from collections.abc import Mapping

from mbfmu.errors import ModelError
from mbfmu.modeling.assembly import Assembly
from mbfmu.modeling.component import Component
from mbfmu.modeling.connectors import Connector

#: The composite whose connection it is, and two connectors of its own or of its parts.
Connection = tuple[Component, Connector, Connector]


def components_of(root: Component) -> dict[str, Component]:
    """An assembly and all its components by path, parents first; they get to know what they see around them.

    Raises:
        ModelError: two Worlds (or Roads) side by side, two components of one name, values that contradict each other.
    """
    _assign_outers(root, {})
    components: dict[str, Component] = {}
    _collect(root, components)
    for component in components.values():
        component.check_attributes()
        component.check_values()
    return components


def connections_of(components: Mapping[str, Component]) -> list[Connection]:
    """Connections between connectors that exist: one that is switched off takes its connections with it.

    What components attach themselves to comes last.

    Raises:
        ModelError: a connection to something outside, or, in an assembly, to a connector that is switched off.
    """
    found = []
    for component in components.values():
        for a, b in component.connections if component.is_composite else ():
            for connector in (a, b):
                if not any(owner is component for owner in connector.owner._owners()):
                    raise ModelError(
                        f"{component.where}: connects {connector.owner.where}.{connector.port.name}, which is not part "
                        "of it; assign the component to an attribute of the assembly first"
                    )
                _refuse_switched_off(component, connector, components)
            if _exists(a, components) and _exists(b, components):
                found.append((component, a, b))
    taken: dict[tuple[int, int], tuple[Component, Connector]] = {}
    for scope, a, b in found:
        for one, met in ((a, b), (b, a)):
            taken.setdefault((id(one.owner), id(one.port)), (scope, met))
    for component in components.values():
        for own, other in component.attachments():
            _refuse_connected(own, other, taken)
            # In the scope of the other component, where its own connections are
            found.append((other.owner.part_of or other.owner, own, other))
    return found


def _assign_outers(component: Component, outers: Mapping[str, Component]) -> None:
    """Let a component and its parts see what is around them: of one kind, what is further out."""
    component.see(outers)
    own: dict[str, Component] = {}
    for part in component.parts.values():
        if part.inner_name and part.inner_name not in outers:
            if part.inner_name in own:
                both = f"{own[part.inner_name].where} and {part.where}"
                raise ModelError(f"{component.where}: {both} are both a {part.inner_name.capitalize()}; keep one")
            own[part.inner_name] = part
    seen = {**outers, **own}
    for part in component.parts.values():
        _assign_outers(part, seen)


def _collect(component: Component, found: dict[str, Component]) -> None:
    if component.path in found:
        raise ModelError(f"component {component.path}: is there twice; give one of them another name")
    found[component.path] = component
    for name, part in component.parts.items():
        if component.has_part(name):
            _collect(part, found)


def _exists(connector: Connector, components: Mapping[str, Component]) -> bool:
    return connector.owner.path in components and connector.port.enabled(connector.owner)


def _refuse_connected(
    own: Connector, other: Connector, taken: Mapping[tuple[int, int], tuple[Component, Connector]]
) -> None:
    """What a component connects itself must not be connected once more.

    `taken`: where, and with what, connectors are connected, by their owner and port.
    """
    scope, met = taken.get((id(own.owner), id(own.port)), (None, None))
    if scope is not None and met is not None:
        raise ModelError(
            f"{scope.where}: {own.path}: connects itself with {other.path}; leave out the connection with {met.path}"
        )


def _refuse_switched_off(scope: Component, connector: Connector, components: Mapping[str, Component]) -> None:
    """In an assembly, a connection to something that its parameters switch off is a mistake; composites rely on it."""
    owner = connector.owner
    if not isinstance(scope, Assembly) or owner.path not in components:
        return
    if connector.port.enabled(owner) or connector.port.fades:
        return
    switches = owner.switching_on(connector.port)
    remedy = f"set {' or '.join(switches)}" if switches else "change the parameters that switch it off"
    message = (
        f"{scope.where}: connects {connector.path}, which {owner.where} does not have with its present parameters; "
        f"{remedy}, or remove the connection"
    )
    if not scope.drops_connections:
        raise ModelError(message)
    warnings.warn(f"{message} (it is left out)", stacklevel=2)
