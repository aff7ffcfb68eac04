"""Writes the texts that the encoder `multilingual` was distilled on, one JSON-lines file a language, into a new folder.

    python3 texts.py TEXTS GERMEVAL14_TRAIN OUTPUT

TEXTS: a folder with one JSON-lines file a language (`{"tokens": [...]}`), made of the sources in README.md; those of the
Universal Declaration of Human Rights begin with `udhr_`. GERMEVAL14_TRAIN: the training split of GermEval 2014 in the same
form. No test split is read, and neither DaN+ nor WNUT17, so that these stay unseen.

    nestling distill --teacher multilingual-e5-small --text OUTPUT/*.jsonl --output multilingual --config settings.txt
"""

import json
import random
import sys
from pathlib import Path

texts, germeval, output = map(Path, sys.argv[1:])

# Sentences of each language at most; and of each declaration, which are short.
MOST = {"de": 2_500, "en": 2_200, "th": 1_000}
OTHERS = 250
DECLARATION = 12
# Words of a sentence.
WORDS = range(5, 61)

output.mkdir(parents=True)
sentences = words = 0
for language, path in sorted([(path.stem, path) for path in texts.glob("*.jsonl")] + [("de", germeval)]):
    lines = [json.loads(line)["tokens"] for line in path.read_text("utf8").splitlines()]
    lines = [tokens for tokens in lines if len(tokens) in WORDS]
    random.Random(7).shuffle(lines)
    lines = lines[: DECLARATION if language.startswith("udhr_") else MOST.get(language, OTHERS)]
    if not lines:
        continue
    with open(output / f"{language}.jsonl", "w", encoding="utf8") as file:
        for tokens in lines:
            file.write(json.dumps({"tokens": tokens, "entities": []}, ensure_ascii=False) + "\n")
    sentences += len(lines)
    words += sum(map(len, lines))
print(f"{len(list(output.iterdir()))} files, {sentences:,} sentences, {words:,} words")
