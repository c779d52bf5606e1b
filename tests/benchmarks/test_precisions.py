"""BLEU by number format, of a model and a text that are there."""


def test_every_format_is_scored(script, tiny_model_dir, tmp_path):
    sources, references = tmp_path / "test.en", tmp_path / "test.fr"
    sources.write_text("The red house is small.\nWe do not sleep in the old house.\n", encoding="utf-8")
    references.write_text("La maison rouge est petite.\nNous ne dormons pas.\n", encoding="utf-8")
    words = ["--model", tiny_model_dir, "--src", sources, "--ref", references, "--what", "two lines"]
    printed, record = script("precisions.py", *words, "--dtypes", "float32,int8")
    assert [row["dtype"] for row in record["rows"]] == ["float32", "int8"]
    for row in record["rows"]:
        assert row["sentences"] == 2 and row["cpu_seconds"] > 0
        assert "version:" in row["BLEU"]["signature"]
        assert f"| {row['dtype']} | {row['BLEU']['value']:.2f} |" in printed
