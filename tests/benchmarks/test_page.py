"""The tables of docs/performance.md are those of the files in results/."""


def test_the_page_is_fresh(module):
    page = module("page")
    text = page.PAGE.read_text(encoding="utf-8")
    assert text.count("<!-- table: ") == text.count("<!-- end -->") >= 5
    assert page.filled(text) == text, "run: python benchmarks/page.py"


def test_what_stands_between_the_lines_is_replaced(module):
    page = module("page")
    text = page.PAGE.read_text(encoding="utf-8")
    assert page.filled(text.replace("| rnnsearch", "| another")) == text
