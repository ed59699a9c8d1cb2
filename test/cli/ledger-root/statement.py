"""Checks statements of addresses, from docs/final-ledger.md alone: a second implementation."""

import json
import struct
import sys

from final_root import blake

LETTERS = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
PARTS = "own", "untilExpiration", "fromExpiration", "governed", "depositReturn"
PROVES = "Each output in this file is in the ledger with which the network ended, unspent: its record is in the tree that the final root commits to."
LIMIT = "This file does not prove that the address had no other outputs. The tree is in the order of output IDs, not of addresses, so whoever made the file may have left some out. For an output ID that you name, a node proves that the ledger has it, or has not."


class Refused(Exception):
    pass


def must(condition, reason):
    if not condition:
        raise Refused(reason)


def raw(text, length=None):
    must(isinstance(text, str) and text.startswith("0x") and text == text.lower(), "no hex")
    value = bytes.fromhex(text[2:])
    must(length in (None, len(value)), "wrong length")
    return value


def whole(value):
    must(type(value) is int and 0 <= value < 2**53, "no count")
    return value


def address_bytes(text):
    """BIP-0173."""
    prefix, _, data = text.rpartition("1")
    values = [LETTERS.index(letter) for letter in data]
    check = 1
    expanded = [ord(c) >> 5 for c in prefix] + [0] + [ord(c) & 31 for c in prefix]
    for value in expanded + values:
        top, check = check >> 25, (check & 0x1FFFFFF) << 5 ^ value
        for i, g in enumerate((0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)):
            check ^= g if top >> i & 1 else 0
    must(check == 1 and 0 < len(prefix) and text == text.lower(), "no bech32")
    bits = "".join(f"{value:05b}" for value in values[:-6])
    must(len(bits) == 265 and "1" not in bits[264:], "no address")
    found = int(bits[:264], 2).to_bytes(33, "big")
    must(found[0] in (0, 8, 16), "an unknown type")
    return found


def final_root(ledger):
    parts = [b"stardust-final-1", blake(ledger["networkName"].encode())[:8]]
    parts += [struct.pack("<I", whole(ledger["milestoneIndex"])), raw(ledger["milestoneId"], 32)]
    for tree in ledger["outputs"], ledger["nfts"]:
        parts += [struct.pack("<Q", whole(tree["count"])), raw(tree["root"], 32)]
    return blake(*parts)


def root_of(record, position, path, count):
    """RFC 9162, 2.1.3.2."""
    must(position < count, "no such place")
    node, last, path = blake(b"\0", record), count - 1, list(path)
    while last > 0:
        if position % 2 == 1:
            node = blake(b"\1", path.pop(0), node)
        elif position < last:
            node = blake(b"\1", node, path.pop(0))
        position, last = position // 2, last // 2
    must(path == [], "a path that is too long")
    return node


def conditions_of(output):
    """Amount, native tokens, and unlock conditions by type: (address, amount or time)."""
    kind, amount, tokens = struct.unpack_from("<BQB", output)
    at = 10 + 70 * tokens
    held = [(output[i : i + 38], int.from_bytes(output[i + 38 : i + 70], "little")) for i in range(10, at, 70)]
    if kind == 4:
        at += 36
        at += 2 + struct.unpack_from("<H", output, at)[0] + 4
    else:
        at += {3: 0, 5: 101, 6: 32}[kind]
    count, at, found = output[at], at + 1, {}
    for _ in range(count):
        which, at = output[at], at + 1
        address = b"" if which == 2 else output[at : at + 33]
        at += len(address)
        size = {1: 8, 2: 4, 3: 4}.get(which, 0)
        found[which] = address, int.from_bytes(output[at : at + size], "little")
        at += size
    return amount, held, found


def part_of(found, key):
    def names(*types):
        return any(found[t][0] == key for t in types if t in found)

    if names(0, 4, 6):
        return "own" if 3 not in found or names(3) else "untilExpiration"
    for part, which in ("fromExpiration", 3), ("governed", 5), ("depositReturn", 1):
        if names(which):
            return part
    raise Refused("an output of other addresses")


def check(file, root):
    key, ledger = address_bytes(file["address"]), file["ledger"]
    must(final_root(ledger) == root, "another final root")
    sums = {part: [0, 0, 0, 0, {}] for part in PARTS}
    cursor = file["after"] or ""
    must(cursor == "" or len(raw("0x" + cursor)) == 38, "no cursor")
    for entry in file["outputs"]:
        record = raw(entry["record"])
        path = [raw(each, 32) for each in entry["path"]]
        found = root_of(record, whole(entry["position"]), path, ledger["outputs"]["count"])
        must(found == raw(ledger["outputs"]["root"]), "the path leads elsewhere")
        time, length = struct.unpack_from("<II", record, 70)
        must(len(record) == 78 + length, "no record")
        before, cursor = cursor, f"{time:08x}{record[:34].hex()}"
        must(before < cursor, "out of order")
        amount, held, conditions = conditions_of(record[78:])
        part = part_of(conditions, key)
        total = sums[part]
        owner, deposit = conditions.get(1, (key, 0))
        amount = deposit if part == "depositReturn" else amount
        total[0] += 1
        total[1] += amount
        total[2] += 0 if owner == key else deposit
        total[3] += amount if 2 in conditions else 0
        for token, units in held if part != "depositReturn" else []:
            total[4][token] = total[4].get(token, 0) + units
    must(file["next"] in (None, cursor if file["outputs"] else None), "another next page")
    names = "outputs", "amount", "depositReturn", "timelocked", "nativeTokens"

    def written(count, amount, deposit, locked, tokens):
        listed = [{"id": "0x" + token.hex(), "amount": hex(tokens[token])} for token in sorted(tokens)]
        return dict(zip(names, (count, str(amount), str(deposit), str(locked), listed)))

    fields = "networkName", "milestoneIndex", "milestoneId"
    again = {
        "format": "stardust-statement-1",
        "address": file["address"],
        "ledger": {each: ledger[each] for each in fields}
        | {tree: {each: ledger[tree][each] for each in ("count", "root")} for tree in ("outputs", "nfts")},
        "proves": PROVES,
        "doesNotProve": LIMIT,
        "after": file["after"],
        "next": file["next"],
        "totals": {"outputs": len(file["outputs"])} | {part: written(*sums[part]) for part in PARTS},
        "outputs": [{each: entry[each] for each in ("position", "record", "path")} for entry in file["outputs"]],
    }
    must(json.dumps(again, sort_keys=True) == json.dumps(file, sort_keys=True), "something else")
    return sums


def main(root):
    """A statement in each line of the input; "proved" and its sums, or "refused", in each of the output."""
    for line in sys.stdin:
        try:
            sums = check(json.loads(line), bytes.fromhex(root))
            print("proved", *(f"{part}:{sums[part][0]}:{sums[part][1]}" for part in PARTS))
        except (Refused, KeyError, IndexError, TypeError, ValueError, AttributeError, struct.error) as error:
            print("refused", repr(error))


main(sys.argv[1])
