"""The file that `rnnsearch evaluate --json` writes: a row for each system that translated one test set.

    {
      "references": {"sentences": 3003, "sha256": "..."},
      "systems": {
        "RNNsearch-50": {
          "scores": {"all": [measure, ...], "no_unk": [measure, ...]},
          "bleu_by_length": {"all": [bin, ...], "no_unk": [bin, ...]},
          "options": {...},
          "versions": {...}
        },
        "Moses": ...
      }
    }

The columns are those of the paper's table 1; "no_unk" is there where it is known which words are. A measure is a
`Score`, a bin a `LengthBin` of the paper's measure, whose lengths are words of the source between blanks.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from ..errors import InputError
from .by_length import LengthBin
from .scores import Score


@dataclass(frozen=True)
class SystemScores:
    """The row of one system.

    Args:
        scores: measures by column, none where no sentence belongs to it.
        bleu_by_length: bins by column; no column without sources.
        options: what `rnnsearch evaluate` was told, by option.
        versions: of the packages.
    """

    scores: Mapping[str, Sequence[Score]]
    bleu_by_length: Mapping[str, Sequence[LengthBin]]
    options: Mapping[str, Any]
    versions: Mapping[str, str]


@dataclass(frozen=True)
class Report:
    """Scores of systems on one test set.

    Args:
        sentences: number of references.
        sha256: of the references, a line each, in hexadecimal.
        systems: rows by name.
    """

    sentences: int
    sha256: str
    systems: Mapping[str, SystemScores]

    @classmethod
    def of(cls, references: Sequence[str]) -> "Report":
        """A report without a row."""
        text = "".join(f"{line}\n" for line in references)
        return cls(len(references), hashlib.sha256(text.encode()).hexdigest(), {})

    def with_system(self, name: str, row: SystemScores) -> "Report":
        """The report with a row more, or another in the place of the one of that name."""
        return Report(self.sentences, self.sha256, {**self.systems, name: row})

    def to_json(self) -> str:
        references = {"sentences": self.sentences, "sha256": self.sha256}
        systems = {name: asdict(row) for name, row in self.systems.items()}
        written = {"references": references, "systems": systems}
        return json.dumps(written, indent=2, ensure_ascii=False, default=str) + "\n"


def read_report(path: str | PathLike[str]) -> Report:
    """Read what `Report.to_json` made.

    Raises:
        InputError: the file cannot be read or holds something else.
    """
    written = read_json_object(path)
    try:
        systems = {
            name: SystemScores(
                {column: [Score(**one) for one in scores] for column, scores in row["scores"].items()},
                {column: [LengthBin(**one) for one in bins] for column, bins in row["bleu_by_length"].items()},
                dict(row["options"]),
                dict(row["versions"]),
            )
            for name, row in written["systems"].items()
        }
        return Report(written["references"]["sentences"], written["references"]["sha256"], systems)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path}: holds no scores; give a file that `rnnsearch evaluate --json` wrote") from error


def read_json_object(path: str | PathLike[str]) -> dict[str, Any]:
    """The object in a JSON file.

    Raises:
        InputError: the file cannot be read or holds something else.
    """
    try:
        return dict(json.loads(Path(path).read_text(encoding="utf-8")))
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error
    except (TypeError, ValueError) as error:
        raise InputError(f"{path}: holds no JSON object; remove it or write it anew") from error
