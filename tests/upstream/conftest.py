"""Marks of Transformers' own tests."""

MARKS = [
    "accelerate_tests",
    "flash_attn_3_test",
    "flash_attn_4_test",
    "flash_attn_kernels",
    "flash_attn_test",
    "generate",
    "is_training_test",
    "onnx_export_test",
    "torch_compile_test",
    "torch_export_test",
    "training_ci",
]


def pytest_configure(config):
    for mark in MARKS:
        config.addinivalue_line("markers", f"{mark}: of Transformers")
