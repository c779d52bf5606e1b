"""Tell the Auto classes and the pipelines of Transformers about RNNsearch, at the moment that they are imported.

Registering at once would import torch and Transformers with every `import rnnsearch`, `rnnsearch --help` included.
"""

import re
import sys
from collections.abc import Callable
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType, SimpleNamespace
from typing import Any


def _register_config() -> None:
    from transformers.models.auto.configuration_auto import AutoConfig

    from .modeling.configuration_rnnsearch import RNNsearchConfig

    AutoConfig.register("rnnsearch", RNNsearchConfig, exist_ok=True)


def _import_layers() -> None:
    import_module("transformers.modeling_layers")


def _import_models() -> None:
    import_module("rnnsearch.modeling.modeling_rnnsearch")


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


def _import_pipeline() -> None:
    import_module("rnnsearch.modeling.pipeline_rnnsearch")


def _register_pipeline() -> None:
    from transformers import pipelines
    from transformers.models.auto.modeling_auto import AutoModelForSeq2SeqLM

    from .modeling.pipeline_rnnsearch import TranslationPipeline

    registry = pipelines.PIPELINE_REGISTRY
    if "translation" in registry.get_supported_tasks():  # the one of Transformers 4, or this one
        return
    registry.register_pipeline("translation", TranslationPipeline, pt_model=AutoModelForSeq2SeqLM, type="text")
    # Transformers asks its list of former tasks first, and knows no task that has languages in its name.
    getattr(pipelines, "REMOVED_TASKS", {}).pop("translation", None)
    check_task = registry.check_task
    registry.check_task = lambda task: check_task(_without_languages(task))  # type: ignore[method-assign]


def _without_languages(task: str) -> str:
    return re.sub(r"^translation_[^_]+_to_[^_]+$", "translation", task)


def _mend_evaluator() -> None:
    """Let `evaluate` take pipelines: it asks what it is given for a class that Transformers 5 no longer has."""
    import transformers

    base: Any = sys.modules["evaluate.evaluator.base"]
    if not hasattr(transformers, "TFPreTrainedModel"):
        # For that one module: elsewhere the name would promise TensorFlow.
        base.transformers = SimpleNamespace(PreTrainedModel=transformers.PreTrainedModel, TFPreTrainedModel=())


# Where two modules import each other, the first of them is not finished when the second is: so what follows an import
# is no more than the next import, which returns at once if it is under way, until the module that registers is there.
# The layers import the Auto classes; our models import the layers, our pipeline those of Transformers.
_REGISTRATIONS: dict[str, Callable[[], None]] = {
    "transformers.models.auto.configuration_auto": _register_config,
    "transformers.models.auto.modeling_auto": _import_layers,
    "transformers.modeling_layers": _import_models,
    "rnnsearch.modeling.modeling_rnnsearch": _register_models,
    "transformers.models.auto.tokenization_auto": _register_tokenizer,
    "transformers.pipelines": _import_pipeline,
    "rnnsearch.modeling.pipeline_rnnsearch": _register_pipeline,
    "evaluate.evaluator.base": _mend_evaluator,
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
    imported = [action for name, action in _REGISTRATIONS.items() if name in sys.modules]
    late = {name: action for name, action in _REGISTRATIONS.items() if name not in sys.modules}
    sys.meta_path.insert(0, _AfterImport(late))
    for action in imported:
        action()
