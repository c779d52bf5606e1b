"""The demo app as a Space of the Hugging Face Hub; the variable MODEL names the model that it begins with."""

import os

from rnnsearch.app.page import serve

if __name__ == "__main__":
    serve(os.environ.get("MODEL", ""))
