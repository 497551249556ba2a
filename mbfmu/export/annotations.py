"""What OpenModelica reads beside the standard: default plots, and which file has the scene.

Its importer looks for `Figures` and `Visualization` in the annotation `org.openmodelica` of FMI 3.0, and in the tool
`OpenModelica` of FMI 2.0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from lxml import etree

from mbfmu.export.elements import add
from mbfmu.runtime.figures import Figure, drawable
from mbfmu.runtime.variables import ScalarVariable


def annotate(
    root: etree._Element, fmi: int, figures: Sequence[Figure], variables: Iterable[ScalarVariable], scene: str | None
) -> None:
    """Add the annotation, where there is something to say.

    Args:
        root: fmiModelDescription, which has all that comes before.
        fmi: Version of FMI: 2 or 3.
        figures: Those of the model; curves of variables that the FMU does not show are left out.
        variables: Scalars of the FMU.
        scene: Name of the file in resources/ that has the scene, if any.
    """
    units = {variable.name: variable.unit or "" for variable in variables}
    shown = drawable(figures, units)
    if not shown and scene is None:
        return
    parent = add(root, "VendorAnnotations" if fmi == 2 else "Annotations")
    place = None if fmi == 2 else add(parent, "Annotation", type="org.openmodelica")

    def said(tag: str, **attributes: str) -> etree._Element:
        """One element more; FMI 2.0 allows each Tool but one."""
        return add(add(parent, "Tool", name="OpenModelica") if place is None else place, tag, version="1", **attributes)

    if shown:
        group = said("Figures")
        for figure in shown:
            _figure(group, figure, units)
    if scene is not None:
        said("Visualization", file=scene)


def _figure(parent: etree._Element, figure: Figure, units: Mapping[str, str]) -> None:
    """One plot per unit; all figures are preferred, for they are few and chosen."""
    element = add(parent, "Figure", title=figure.title, preferred=True)
    for unit, curves in figure.axes(units).items():
        plot = add(element, "Plot", title=figure.title)
        add(plot, "Axis", role="y", unit=unit or None)
        for curve in curves:
            add(plot, "Curve", y=curve.name, legend=curve.legend or None)
    if figure.caption:
        add(element, "Caption").text = figure.caption
