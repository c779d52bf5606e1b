"""Arguments, batches and the trainer behind `rnnsearch train`."""
