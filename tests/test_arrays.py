"""Arrays of variables: names and order of their elements."""

from __future__ import annotations

from mbfmu.arrays import Array


def test_elements_stand_by_rows_and_by_columns():
    """A matrix that is no square tells rows from columns (FMI 3.0.2, section 2.2.6.1)."""
    matrix = Array("A", (2, 3))
    rows = ["A[1,1]", "A[1,2]", "A[1,3]", "A[2,1]", "A[2,2]", "A[2,3]"]
    assert [element.name for element in matrix.elements] == rows
    assert [element.place for element in matrix.elements] == list(range(6))
    by_columns = [element.name for element in matrix.elements_by_columns]
    assert by_columns == ["A[1,1]", "A[2,1]", "A[1,2]", "A[2,2]", "A[1,3]", "A[2,3]"]


def test_derivatives_keep_the_place_of_an_element():
    element = Array("A", (2, 3)).elements[4].derivative
    assert (element.name, element.place, element.derivative.name) == ("der(A[2,2])", 4, "der(A[2,2],2)")
