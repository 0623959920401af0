"""Parameters of estimators inside others."""

from typing import Any, ClassVar, Self

from multimargin.scikit_learn import BaseComposition

Named = list[tuple[str, Any]]


class NestedEstimators(BaseComposition):  # type: ignore[misc]
    """Base of estimators with parameters that list others by name, as "words__min_df"."""

    # Parameters that list tuples beginning with name and estimator, and the lengths of the tuples
    _nested: ClassVar[dict[str, int]]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters.

        Parameters
        ----------
        deep : bool, default=True
            If True, also those of the estimators that parameters list by name.

        Returns
        -------
        dict of str to object
            The parameters by name.
        """
        parameters: dict[str, Any] = self._get_params("_inner", deep=deep)
        return parameters

    def set_params(self, **params: Any) -> Self:
        """Set parameters, also those of inner estimators by their names.

        Parameters
        ----------
        **params : dict
            Parameters by name, as `get_params` returns them.

        Returns
        -------
        estimator
            Itself.
        """
        for name in self._nested:
            if name in params:
                setattr(self, name, params.pop(name))
        self._set_params("_inner", **params)
        return self

    def _check_names(self) -> None:
        """Refuse names with which a parameter of an inner estimator would not be found."""
        try:
            self._validate_names([name for name, _ in self._inner])
        except ValueError as error:
            raise ValueError(f"{' and '.join(self._nested)}: {error}") from error

    @property
    def _inner(self) -> Named:
        """The estimators listed by parameters, by name."""
        sizes = self._nested.items()
        return [(one[0], one[1]) for name, size in sizes for one in self._listed(name, size)]

    @_inner.setter
    def _inner(self, named: Named) -> None:
        estimators = dict(named)
        for name, size in self._nested.items():
            own = getattr(self, name)
            if known := self._listed(name, size):
                renewed = (
                    (one[0], estimators[one[0]], *one[2:]) if one in known else one for one in own
                )
                setattr(self, name, type(own)(renewed))

    def _listed(self, name: str, size: int) -> list[Any]:
        """Return the tuples listed by a parameter, none if it is not a list."""
        own = getattr(self, name)
        if not isinstance(own, list | tuple):
            return []
        return [
            one
            for one in own
            if isinstance(one, list | tuple) and len(one) == size and isinstance(one[0], str)
        ]
