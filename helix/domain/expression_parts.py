"""Parts of an arithmetic expression: constants, divisors, negated numbers. Pure."""

from __future__ import annotations

from collections.abc import Collection

from helix.domain.arithmetic import Literal, Negated, Node, Operation, literals

_HUNDRED = 100


def divides_by(tree: Node, known: Collection[Literal]) -> bool:
    """True if an expression divides by one of the numbers ``known``."""
    if isinstance(tree, Literal):
        return False
    if isinstance(tree, Negated):
        return divides_by(tree.part, known)
    below = tree.sign == "/" and any(number in known for number in literals(tree.right))
    return below or divides_by(tree.left, known) or divides_by(tree.right, known)


def ends_in_hundredths(tree: Node) -> bool:
    """True if an expression ends in `* 100`."""
    if not isinstance(tree, Operation) or tree.sign != "*":
        return False
    return isinstance(tree.right, Literal) and tree.right.value == _HUNDRED


def negated_literals(tree: Node) -> set[Literal]:
    """The numbers that have a minus of their own."""
    if isinstance(tree, Literal):
        return set()
    if isinstance(tree, Negated):
        return {tree.part} if isinstance(tree.part, Literal) else negated_literals(tree.part)
    return negated_literals(tree.left) | negated_literals(tree.right)


def constants_of(tree: Node) -> set[Literal]:
    """The numbers that need no source.

    The count that a sum of so many is divided by, the 1 of `a / b - 1`, the 100 of `a / b * 100`.
    """
    if isinstance(tree, Literal):
        return set()
    if isinstance(tree, Negated):
        return constants_of(tree.part)
    left, right = tree.left, tree.right
    found = constants_of(left) | constants_of(right)
    if isinstance(right, Literal):
        is_count = tree.sign == "/" and right.value == _terms(left) > 1
        is_one = tree.sign == "-" and right.value == 1 and _is_quotient(left)
        is_hundred = tree.sign == "*" and right.value == _HUNDRED and _is_quotient(left)
        if is_count or is_one or is_hundred:
            found.add(right)
    return found


def is_product(tree: Node) -> bool:
    return isinstance(tree, Operation) and tree.sign == "*"


def _is_quotient(tree: Node) -> bool:
    return isinstance(tree, Operation) and tree.sign == "/"


def _terms(tree: Node) -> int:
    """The count of the numbers that a sum adds; 0 of what is no sum."""
    if isinstance(tree, Literal):
        return 1
    if isinstance(tree, Negated):
        return _terms(tree.part)
    left, right = _terms(tree.left), _terms(tree.right)
    return left + right if tree.sign == "+" and left and right else 0
