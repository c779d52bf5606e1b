"""Fonts of a text: as few as will do, and which to install where none has a character."""

from pathlib import Path

import matplotlib
import pytest
from matplotlib.font_manager import FontProperties, fontManager

from rnnsearch.alignment import fonts
from rnnsearch.alignment.fonts import families_for
from rnnsearch.errors import InputError

SHAPES = matplotlib.__version_info__ >= (3, 11)
HOOKED = "ᶁ"  # of the fonts that come with matplotlib, STIXGeneral alone has it
UNSERIFED_BOLD = "𝗔"  # DejaVu Sans has it in bold alone


@pytest.fixture
def installed(monkeypatch):
    """Makes the fonts that come with matplotlib, those of the names given, the only ones of the system."""

    def install(*names: str) -> None:
        folder = Path(matplotlib.get_data_path(), "fonts", "ttf")
        monkeypatch.setattr(fonts, "findSystemFonts", lambda: [str(folder / f"{name}.ttf") for name in names])

    return install


def test_nothing_else_is_asked_for_latin_and_greek(monkeypatch):
    monkeypatch.setattr(fonts, "findSystemFonts", None)  # reading all fonts takes time
    assert families_for(["œuvre", "Wörter", "λόγος", "слово", "a\u200db\n"]) == FontProperties().get_family()


def test_a_font_that_has_what_the_default_lacks(installed):
    installed("cmr10", "DejaVuSansMono", "STIXGeneral")
    assert families_for(["a", HOOKED]) == [*FontProperties().get_family(), "STIXGeneral"]


def test_a_font_that_matplotlib_does_not_know_yet(installed, monkeypatch):
    """Its list of fonts is older than one that was installed just now."""
    installed("STIXGeneral")
    known = [entry for entry in fontManager.ttflist if entry.name != "STIXGeneral"]
    monkeypatch.setattr(fontManager, "ttflist", known)
    families_for([HOOKED])
    assert any(entry.name == "STIXGeneral" for entry in fontManager.ttflist)


def test_no_more_fonts_than_needed(installed):
    both = "⎴ᶄ"  # STIXGeneral has both, the other one of them
    installed("STIXSizOneSymReg", "STIXGeneral")
    assert families_for([both]) == [*FontProperties().get_family(), "STIXGeneral"]


def test_bold_does_not_help(installed):
    installed("DejaVuSans-Bold")
    with pytest.raises(InputError, match="U\\+1D5D4"):
        families_for([UNSERIFED_BOLD])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("狗", r"no installed font has 狗 \(U\+72D7\): install one that does, such as Noto Sans CJK"),
        ("ひる 한국", r"한 \(U\+D55C\): install one that does, such as Noto Sans CJK"),
        ("ሰላም", "Noto Sans Ethiopic"),
        ("𓀀𓀁𓀂𓀃𓀄𓀅𓀆", r"𓀄 \(U\+13004\) and 2 more: "),
        ("🥕", "Noto Sans Symbols"),
    ],
)
def test_what_to_install(installed, text, message):
    installed("cmr10")
    with pytest.raises(InputError, match=message):
        families_for([text])


def test_damaged_fonts_are_passed_over(installed, monkeypatch, tmp_path):
    (tmp_path / "damaged.ttf").write_bytes(b"no font")
    monkeypatch.setattr(fonts, "findSystemFonts", lambda: [str(tmp_path / "damaged.ttf")])
    with pytest.raises(InputError, match="Noto Sans CJK"):
        families_for(["狗"])


@pytest.mark.parametrize("text", ["الكلب", "הכלב"])
def test_letters_that_must_be_joined_or_turned(text):
    if SHAPES:
        assert families_for([text]) == FontProperties().get_family()
    else:
        with pytest.raises(InputError, match=r"cannot set the script of .*: install 3\.11 or later"):
            families_for([text])
