"""A trained model as ONNX graphs, and a translator that runs them without PyTorch."""
