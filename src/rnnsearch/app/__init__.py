"""The demo app: a sentence in, its translations out, with the source words that each word was read from.

`rnnsearch demo-app` and the Space in `examples/space` start it. It needs `pip install rnnsearch[app]`.
"""
