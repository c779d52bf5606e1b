"""Tell the Auto classes of Transformers about RNNsearch, at the moment that they are imported.

Registering at once would import torch and Transformers with every `import rnnsearch`, `rnnsearch --help` included.
"""

import sys
from collections.abc import Callable
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType


def _register_config() -> None:
    from transformers.models.auto.configuration_auto import AutoConfig

    from .modeling.configuration_rnnsearch import RNNsearchConfig

    AutoConfig.register("rnnsearch", RNNsearchConfig, exist_ok=True)


def _register_models() -> None:
    from transformers.models.auto.modeling_auto import AutoModel, AutoModelForSeq2SeqLM

    from .modeling.configuration_rnnsearch import RNNsearchConfig
    from .modeling.modeling_rnnsearch import RNNsearchForConditionalGeneration, RNNsearchModel

    AutoModel.register(RNNsearchConfig, RNNsearchModel, exist_ok=True)
    AutoModelForSeq2SeqLM.register(RNNsearchConfig, RNNsearchForConditionalGeneration, exist_ok=True)


def _register_tokenizer() -> None:
    from transformers.models.auto.tokenization_auto import AutoTokenizer

    from .modeling.configuration_rnnsearch import RNNsearchConfig
    from .tokenizer.tokenization_rnnsearch import RNNsearchTokenizer

    AutoTokenizer.register(RNNsearchConfig, fast_tokenizer_class=RNNsearchTokenizer, exist_ok=True)


_REGISTRATIONS: dict[str, Callable[[], None]] = {
    "transformers.models.auto.configuration_auto": _register_config,
    "transformers.models.auto.modeling_auto": _register_models,
    "transformers.models.auto.tokenization_auto": _register_tokenizer,
}


class _AfterImport(MetaPathFinder):
    """Runs an action once, right after the module that it waits for has been imported."""

    def __init__(self, actions: dict[str, Callable[[], None]]):
        self.waiting = dict(actions)

    def find_spec(self, fullname: str, path=None, target=None) -> ModuleSpec | None:
        action = self.waiting.pop(fullname, None)
        if action is None:
            return None
        spec = find_spec(fullname)  # by the other finders: this one no longer waits for the name
        if spec is None or spec.loader is None:
            return spec
        execute = spec.loader.exec_module

        def exec_module(module: ModuleType) -> None:
            execute(module)
            action()

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def register_when_imported() -> None:
    """Register what is imported already, and the rest when it is."""
    late = {}
    for name, action in _REGISTRATIONS.items():
        if name in sys.modules:
            action()
        else:
            late[name] = action
    sys.meta_path.insert(0, _AfterImport(late))
