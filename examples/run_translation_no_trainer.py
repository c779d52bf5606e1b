"""Train with a loop of your own over Accelerate: the same script on one CPU, several GPUs or several machines.

    python examples/run_translation_no_trainer.py demo/text/train.en demo/text/train.fr runs/no_trainer
    torchrun --nproc_per_node 2 examples/run_translation_no_trainer.py ... --batch-size 32
    accelerate launch --num_machines 2 --num_processes 8 ... examples/run_translation_no_trainer.py ...

A step is the same however many processes share its pairs: `processes x batch size x accumulate` of them. A checkpoint
is written after each epoch; with `--resume` the training goes on from the last one to the same result. `demo/text` is
what `make demo` writes. The last 500 pairs are held out; each epoch ends with BLEU on them.

Expected: 2.3 CPU minutes: BLEU 92.8 (results/examples.json).
"""

from contextlib import nullcontext
from itertools import islice
from pathlib import Path

import torch
import typer
from accelerate import Accelerator
from accelerate.utils import DataLoaderConfiguration, set_seed
from datasets import Dataset
from torch.utils.data import DataLoader
from transformers import DataCollatorForSeq2Seq, get_cosine_schedule_with_warmup

from rnnsearch import RNNsearchConfig, RNNsearchForConditionalGeneration, RNNsearchTokenizer
from rnnsearch.data.corpus import filter_pairs, load_pairs
from rnnsearch.evaluation.scores import bleu


def main(
    source: Path,
    target: Path,
    output: Path,
    epochs: int = 3,
    batch_size: int = 64,
    accumulate: int = 1,
    size: int = 128,
    held_out: int = 500,
    resume: bool = False,
) -> dict[str, float]:
    accelerator = Accelerator(
        cpu=not torch.accelerator.is_available(),  # said aloud, or processes without GPUs would not find one another
        dataloader_config=DataLoaderConfiguration(use_seedable_sampler=True),  # each epoch has an order of its own
    )
    set_seed(1234)
    pairs, report = filter_pairs(load_pairs([str(source), str(target)]), max_length=50)
    accelerator.print(report)
    pairs, test = pairs[:-held_out], pairs[-held_out:]
    sources, targets = [pair.source for pair in pairs], [pair.target for pair in pairs]
    tokenizer = RNNsearchTokenizer.train(sources, targets, kind="word")
    sizes = dict.fromkeys(("embedding_size", "hidden_size", "alignment_size", "maxout_size"), size)
    config = RNNsearchConfig(
        src_vocab_size=tokenizer.src_vocab_size,
        vocab_size=tokenizer.target_vocab_size,
        initializer_range=0.05,
        **sizes,
    )
    model = RNNsearchForConditionalGeneration(config)

    collator = DataCollatorForSeq2Seq(tokenizer, model=model)
    data = Dataset.from_dict(dict(tokenizer(sources, text_target=targets)))
    test_data = Dataset.from_dict(dict(tokenizer([pair.source for pair in test])))
    loader = DataLoader(data, batch_size, shuffle=True, collate_fn=collator)
    test_loader = DataLoader(test_data, 128, collate_fn=lambda rows: tokenizer.pad(rows, return_tensors="pt"))
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    model, optimizer, loader, test_loader = accelerator.prepare(model, optimizer, loader, test_loader)
    steps = epochs * -(-len(loader) // accumulate)
    schedule = get_cosine_schedule_with_warmup(optimizer, steps // 50, steps)
    accelerator.register_for_checkpointing(schedule)

    done = 0
    if resume:
        # The schedule is what a checkpoint gets last; an interrupt may have left one without.
        done = max(int(path.parent.name) for path in output.glob("checkpoints/*/custom_checkpoint_0.pkl"))
        accelerator.load_state(output / "checkpoints" / str(done))  # weights, optimizer, schedule and chance
    for epoch in range(done, epochs):
        loader.set_epoch(epoch)
        loss = train_epoch(accelerator, model, loader, optimizer, schedule, accumulate)
        texts = translate(accelerator, model, tokenizer, test_loader)
        score = bleu(texts, [pair.target for pair in test]).value
        accelerator.print(f"epoch {epoch + 1}: loss {loss:.3f} nats per token, BLEU {score:.1f}")
        accelerator.save_state(output / "checkpoints" / str(epoch + 1))

    accelerator.wait_for_everyone()
    if accelerator.is_main_process:
        accelerator.unwrap_model(model).save_pretrained(output)
        tokenizer.save_pretrained(output)
    accelerator.end_training()
    return {"BLEU": score}


def train_epoch(accelerator, model, loader, optimizer, schedule, accumulate: int) -> float:
    """One pass over the pairs; the mean loss of a target token on the way."""
    model.train()
    total, tokens = 0.0, 0
    remaining = iter(loader)
    while batches := list(islice(remaining, accumulate)):
        # Of all batches of this step, in all processes: each token counts the same, wherever it is.
        count = accelerator.reduce(sum(batch["labels"].ne(-100).sum() for batch in batches))
        for number, batch in enumerate(batches, 1):
            # Gradients are exchanged once a step.
            with nullcontext() if number == len(batches) else accelerator.no_sync(model):
                loss = model(**batch, num_items_in_batch=count).loss
                accelerator.backward(loss * accelerator.num_processes)  # the exchange takes a mean
            total += accelerator.reduce(loss.detach()).item() * count.item()
        tokens += count.item()
        accelerator.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
    return total / tokens


@torch.inference_mode()
def translate(accelerator, model, tokenizer, loader) -> list[str]:
    """Greedy translations of all sentences, in their order, in every process."""
    model = accelerator.unwrap_model(model).eval()
    texts = []
    for batch in loader:
        written = accelerator.pad_across_processes(model.generate(**batch), dim=1, pad_index=tokenizer.pad_token_id)
        texts += tokenizer.batch_decode(accelerator.gather_for_metrics(written), skip_special_tokens=True)
    return texts


if __name__ == "__main__":
    typer.run(main)
