"""Fonts for words of any script: which of those installed have their characters, and which to install if none has."""

import unicodedata
from collections.abc import Iterable

import matplotlib
from matplotlib.font_manager import FontProperties, findfont, findSystemFonts, fontManager
from matplotlib.ft2font import FT2Font

from ..errors import InputError

__all__ = ["families_for"]

EAST_ASIAN = {"BOPOMOFO", "CJK", "FULLWIDTH", "HANGUL", "HIRAGANA", "IDEOGRAPHIC", "KATAKANA", "KATAKANA-HIRAGANA"}
SHOWN = 5  # characters that an error names


def families_for(texts: Iterable[str]) -> list[str]:
    """Font families that together have all characters: matplotlib's own first, then as few others as will do.

    Raises:
        InputError: no installed font has some character, or this matplotlib cannot set its script.
    """
    visible = {char for text in texts for char in text if unicodedata.category(char) not in ("Cc", "Cf", "Zs")}
    # The first that joins letters and knows those written from right to left
    if matplotlib.__version_info__ < (3, 11) and (unset := set(filter(_needs_shaping, visible))):
        raise InputError(
            f"matplotlib {matplotlib.__version__} cannot set the script of {_list(unset)}: install 3.11 or later"
        )

    default = FontProperties()
    families = [*default.get_family()]
    missing = visible - _held(FT2Font(findfont(default)), visible)
    # Not from matplotlib's list of fonts, which it keeps from the day when it first ran.
    fonts = _system_fonts() if missing else {}
    while missing:
        path, found = max(
            ((path, _held(font, missing)) for path, font in fonts.items()),
            key=lambda candidate: len(candidate[1]),
            default=("", set()),
        )
        if not found:
            names = " and ".join(sorted({_family_to_install(char) for char in missing}))
            raise InputError(f"no installed font has {_list(missing)}: install one that does, such as {names}")
        if path not in {entry.fname for entry in fontManager.ttflist}:
            fontManager.addfont(path)
        families.append(fonts[path].family_name)
        missing -= found
    return families


def _system_fonts() -> dict[str, FT2Font]:
    """Upright outline fonts of usual weight by their paths, those without serifs first."""
    fonts = {}
    for path in findSystemFonts():
        try:
            font = FT2Font(path)
        except (OSError, RuntimeError):  # a damaged file, or a link to none
            continue
        if font.scalable and not font.style_flags:
            fonts[path] = font
    return dict(sorted(fonts.items(), key=lambda item: ("Sans" not in item[1].family_name, item[0])))


def _held(font: FT2Font, characters: set[str]) -> set[str]:
    return {char for char in characters if font.get_char_index(ord(char))}


def _needs_shaping(char: str) -> bool:
    """Written from right to left, or with marks that stand around their letter, as in Arabic and Devanagari."""
    return unicodedata.bidirectional(char) in ("R", "AL") or unicodedata.category(char) == "Mc"


def _family_to_install(char: str) -> str:
    """The family of the Noto fonts for a character's script, which is the first word of the character's name."""
    script = unicodedata.name(char, "").split(" ")[0]
    if script in EAST_ASIAN:
        return "Noto Sans CJK"
    return f"Noto Sans {script.title()}" if unicodedata.category(char)[0] in "LM" and script else "Noto Sans Symbols"


def _list(characters: set[str]) -> str:
    shown = [f"{char} (U+{ord(char):04X})" for char in sorted(characters)[:SHOWN]]
    return ", ".join(shown) + (f" and {len(characters) - SHOWN} more" if len(characters) > SHOWN else "")
