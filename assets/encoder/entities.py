"""Measures what pretraining on entities is worth: models of a corpus that start from an encoder, and from the same encoder
after `nestling pretrain` has shown it the entities of other corpora (docs/encoder.md).

    python3 entities.py NESTLING CORPORA WORK TARGET OTHER...

CORPORA has a folder for each corpus, with train.jsonl, dev.jsonl and test.jsonl in which the ends of entities are inclusive.
The encoder learns from train of each OTHER; models learn from some sentences of TARGET's train and are scored on its --split.
Each figure becomes a line of WORK/results.tsv. What is there already is not made again.
"""

import argparse
import json
import os
import shutil
import subprocess
from pathlib import Path

INCLUSIVE = ["--option", "end=inclusive"]


def numbers(text):
    return [int(number) for number in text.split(",")]


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("nestling")
parser.add_argument("corpora", type=Path)
parser.add_argument("work", type=Path)
parser.add_argument("target")
parser.add_argument("others", nargs="+")
parser.add_argument("--base", default="english", help="encoder to begin with")
parser.add_argument("--name", help="of the encoder that knows entities [BASE-without-TARGET]; one for each choice of others")
parser.add_argument("--limit", type=int, default=2000, help="sentences of each other corpus, at most")
parser.add_argument("--sizes", type=numbers, default=[20, 120, 500], help="sentences that models learn from")
parser.add_argument("--seeds", type=numbers, default=[1, 2, 3])
parser.add_argument("--split", default="dev", choices=["dev", "test"], help="what to score on")
parser.add_argument("--threads", default="1")
parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="of the pretraining")
parser.add_argument("--training", action="append", default=[], metavar="KEY=VALUE", help="of the models' trainings")
args = parser.parse_args()

work = args.work.absolute()
results = work / "results.tsv"
program = shutil.which(args.nestling) or args.nestling
environment = {**os.environ, "NESTLING_HOME": str(work / "home")}


def run(*arguments):
    command = [program, *map(str, arguments), "--json", "--quiet"]
    return json.loads(subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE).stdout)


def settings(pairs):
    return [argument for pair in pairs for argument in ("--set", pair)]


def with_entities():
    """The name of the encoder that knows the others' entities; makes it if it is not there."""
    name = args.name or f"{args.base}-without-{args.target}"
    if name not in [encoder["name"] for encoder in run("encoders", "list")["encoders"]]:
        folder = work / name
        shutil.rmtree(folder, ignore_errors=True)
        corpora = [f"{other}={args.corpora / other / 'train.jsonl'}" for other in args.others]
        made = run("pretrain", "--entities", *corpora, "--encoder", args.base, "--limit", args.limit, "--output", folder,
                   "--threads", args.threads, *settings(args.set), *INCLUSIVE)
        print(name, made["sentences"], "sentences,", len(made["labels"]), "labels, losses", made["losses"])
        run("encoders", "import", folder, "--name", name)
    return name


def untrained():
    """A project with the target's train, and the split to score on as test: so no training sees it."""
    project = work / f"{args.target}-{args.split}.nestling"
    if not project.exists():
        run("new", project)
        run("import", project, args.corpora / args.target / "train.jsonl", "--split", "train", *INCLUSIVE)
        run("import", project, args.corpora / args.target / f"{args.split}.jsonl", "--split", "test", *INCLUSIVE)
    return project


def score(encoder, size, seed):
    project = work / "scored.nestling"
    shutil.rmtree(work / "scored.models", ignore_errors=True)
    shutil.copy(untrained(), project)
    run("train", project, "--limit", size, "--seed", seed, "--threads", args.threads,
        *settings([f"encoder={encoder}", "self_training=0", *args.training]))
    micro = run("evaluate", project, "--split", "test", "--threads", args.threads)["strict"]["micro"]
    project.unlink()
    return [f"{micro[key]:.4f}" for key in ("precision", "recall", "f1")]


work.mkdir(parents=True, exist_ok=True)
known = results.read_text().splitlines() if results.exists() else []
done = {tuple(line.split("\t")[:5]) for line in known}
for encoder in (args.base, with_entities()):
    for size in args.sizes:
        for seed in args.seeds:
            key = (args.target, args.split, " ".join([encoder, *args.training]), str(size), str(seed))
            if key not in done:
                line = "\t".join([*key, *score(encoder, size, seed)])
                print(line, flush=True)
                with results.open("a") as file:
                    file.write(line + "\n")
