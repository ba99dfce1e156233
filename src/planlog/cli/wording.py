"""Numbers as people write them."""


def plural(number: int, noun: str) -> str:
    """As in "1 goal" and "2 goals"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def as_number(cost: float) -> int | float:
    """Whole costs without a point."""
    return int(cost) if cost.is_integer() else cost
