"""Reads: copies are revalidated by their ETag, and each status is handled."""

import json
import time
from http.client import HTTPException
from urllib.error import HTTPError
from urllib.request import Request, urlopen

NODE = "http://127.0.0.1:8787"
copies = {}


def read(path):
    """The JSON of a path; None if the node does not know what it names."""
    etag, copy = copies.get(path, (None, None))
    # requires nothing, but makes tags last as long as the object is the same
    headers = {"X-Min-Ledger-Index": "0"}
    if etag is not None:
        headers["If-None-Match"] = etag
    for pause in (1, 2, 4):
        try:
            with urlopen(Request(NODE + path, headers=headers), timeout=10) as response:
                value = json.load(response)
                copies[path] = (response.headers["ETag"], value)
                return value
        except HTTPError as error:
            if error.code == 304:  # still true, at the ledger index in X-Ledger-Index
                return copy
            if error.code == 404:  # never minted, burned, or pruned
                return None
            if error.code not in (429, 500, 503):  # 400, 401, 403, 405: it fails again
                reason = error.headers.get("X-Error-Detail")
                raise ValueError(f"{error.code}: {reason}") from error
            wait = error.headers.get("Retry-After", "")  # seconds, or a date
            pause = int(wait) if wait.isdecimal() else pause
        except (OSError, HTTPException):  # no answer
            pass
        time.sleep(pause)
    raise OSError(f"{NODE} does not answer now: use another node")


path = "/api/edge/v1/nfts/0x0255e84806dc0be4c149f11753a93fe2b6bd79a659649a0b238f8e2af1785aa7"
nft = read(path)
print("the copy is still true:", read(path) is nft)
print("an NFT that was never minted:", read(path[:-4] + "0000"))
try:
    read("/api/edge/v1/nfts/0x12")
except ValueError as error:
    print(error)
