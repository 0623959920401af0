"""A callback that several tests hand to fits."""


class Recorder:
    """A callback of scikit-learn that keeps what it is told of each epoch, and may end the fit."""

    def __init__(self, stop_after=None):
        self.stop_after = stop_after
        self.epochs = []

    def setup(self, estimator, context):
        pass

    def teardown(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context, *, metadata=None):
        if metadata is not None:
            self.epochs.append(metadata)
        return metadata is not None and len(self.epochs) == self.stop_after
