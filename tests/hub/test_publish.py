"""Uploads to a Hub of our own: whole, in parts, cut off, and refused."""

import pytest

from rnnsearch import RNNsearchForConditionalGeneration
from rnnsearch.errors import InputError
from rnnsearch.hub.publish import create_repository, publish


def weights(hub, name: str) -> bytes:
    return hub.get(f"{name}/resolve/main/model.safetensors")


def test_a_folder_arrives_in_one_commit(on_hub, tiny_model_dir):
    name = create_repository("somebody/whole")
    commit = publish(tiny_model_dir, name)
    assert on_hub.files(name) == {path.name for path in tiny_model_dir.iterdir()}
    assert weights(on_hub, name) == (tiny_model_dir / "model.safetensors").read_bytes()
    assert commit == f"{on_hub.url}/{name}/commit/{on_hub.info(name)['sha']}"
    log = [line for line in on_hub.get("fake/log").decode().split('"') if "/somebody/whole/commit/" in line]
    assert len(log) == 1


def test_a_name_alone_belongs_to_the_owner_of_the_token(on_hub):
    assert create_repository("alone") == create_repository("somebody/alone") == "somebody/alone"


@pytest.mark.parametrize("private", [False, True])
def test_a_private_repository(on_hub, private):
    assert on_hub.info(create_repository(f"private-{private}", private))["private"] == private


def test_weights_in_fewer_parts_replace_those_in_more(on_hub, tiny_model, tmp_path):
    name = create_repository("somebody/parts")
    tiny_model.save_pretrained(tmp_path / "parts", max_shard_size="2KB")
    (tmp_path / "parts" / "notes.txt").write_text("ours")
    publish(tmp_path / "parts", name)
    before = on_hub.files(name)
    assert "model.safetensors.index.json" in before and "model.safetensors" not in before
    tiny_model.save_pretrained(tmp_path / "whole")
    publish(tmp_path / "whole", name)
    assert on_hub.files(name) == {path.name for path in (tmp_path / "whole").iterdir()} | {"notes.txt"}


def test_an_upload_that_is_cut_off_changes_nothing(on_hub, tiny_model_dir, tmp_path):
    name = create_repository("somebody/cut")
    publish(tiny_model_dir, name)
    before = on_hub.info(name)
    model = RNNsearchForConditionalGeneration.from_pretrained(tiny_model_dir)
    model.lm_head.bias.data += 1
    model.save_pretrained(tmp_path)
    on_hub.tell("cut")
    try:
        with pytest.raises(InputError, match=r"^somebody/cut: not published: .*try again$"):
            publish(tmp_path, name)
        assert on_hub.info(name) == before
        assert weights(on_hub, name) == (tiny_model_dir / "model.safetensors").read_bytes()
    finally:
        on_hub.tell("mend")
    publish(tmp_path, name)
    assert weights(on_hub, name) == (tmp_path / "model.safetensors").read_bytes()


def test_the_same_again_is_no_commit(on_hub, tiny_model_dir):
    name = create_repository("somebody/again")
    publish(tiny_model_dir, name)
    first = on_hub.info(name)["sha"]
    publish(tiny_model_dir, name)
    assert on_hub.info(name)["sha"] == first


def test_without_a_token(on_hub, monkeypatch, tmp_path):
    monkeypatch.setenv("HF_TOKEN", "")
    monkeypatch.setattr("huggingface_hub.constants.HF_TOKEN_PATH", str(tmp_path / "none"))
    with pytest.raises(InputError, match=r"somebody/secret: not published: .*401.*hf auth login") as caught:
        create_repository("somebody/secret")
    assert "\n" not in str(caught.value)


def test_a_name_that_cannot_be(on_hub):
    with pytest.raises(InputError, match="a/b/c: not published"):
        create_repository("a/b/c")


def test_a_hub_out_of_reach(on_hub, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(InputError, match=r"somebody/far: not published: .*try again") as caught:
        create_repository("somebody/far")
    assert "\n" not in str(caught.value)
