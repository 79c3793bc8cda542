"""Degrees of freedom: how many parameters a clustering really spends, and who spends them."""

from edfkmeans.dof.estimate import DegreesOfFreedom, degrees_of_freedom

__all__ = ["DegreesOfFreedom", "degrees_of_freedom"]
