"""The final root of a full snapshot, from docs/final-ledger.md alone: a second implementation."""

import hashlib
import struct
import sys


def blake(*parts):
    return hashlib.blake2b(b"".join(parts), digest_size=32).digest()


def merkle(leaves):
    """B.13: split at the largest power of two below the count."""
    if not leaves:
        return blake()
    if len(leaves) == 1:
        return blake(b"\0", leaves[0])
    half = 1 << (len(leaves) - 1).bit_length() - 1
    return blake(b"\1", merkle(leaves[:half]), merkle(leaves[half:]))


def nft_id(output_id, output):
    """B.6; None of an output of another type."""
    if output[0] != 6:
        return None
    at = 10 + 70 * output[9]
    own = output[at : at + 32]
    return own if any(own) else blake(output_id)


def read(snapshot):
    target, = struct.unpack_from("<I", snapshot, 6)
    milestone_id = snapshot[14:46]
    index, = struct.unpack_from("<I", snapshot, 46)
    assert target == index, "milestones are to be rolled back"
    length, = struct.unpack_from("<H", snapshot, 90)
    name = snapshot[102 : 102 + snapshot[101]]
    count, = struct.unpack_from("<Q", snapshot, 92 + length)
    at, outputs, nfts = 106 + length, [], []
    for _ in range(count):
        end = at + 78 + struct.unpack_from("<I", snapshot, at + 74)[0]
        output_id = snapshot[at : at + 34]
        outputs.append(snapshot[at:end])
        nft = nft_id(output_id, snapshot[at + 78 : end])
        if nft is not None:
            nfts.append(nft + output_id)
        at = end
    return name, index, milestone_id, sorted(outputs), sorted(nfts)


def main(path):
    with open(path, "rb") as file:
        name, index, milestone_id, outputs, nfts = read(file.read())
    parts = [b"stardust-final-1", blake(name)[:8], struct.pack("<I", index), milestone_id]
    for tree in outputs, nfts:
        parts += [struct.pack("<Q", len(tree)), merkle(tree)]
        print(len(tree), merkle(tree).hex())
    print(blake(*parts).hex())


if __name__ == "__main__":
    main(sys.argv[1])
