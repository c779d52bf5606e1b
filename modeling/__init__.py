"""The files that travel with a checkpoint: configuration, recurrence and model. They know nothing of `rnnsearch`."""

if __name__ != "rnnsearch.modeling":
    raise ImportError(
        f"This folder was imported as {__name__!r}; import `rnnsearch.modeling` instead (run `pip install -e .` first)."
    )
