"""Learns of every NFT that changes, every five seconds (docs/developers.md#procedure)."""

import json
import sys
import time
from http.client import HTTPException
from urllib.request import urlopen

NODE = "http://127.0.0.1:8787"
seen = 17338  # step 1

while True:
    try:
        url = f"{NODE}/api/edge/v1/changes/nfts?after={seen}"
        with urlopen(url, timeout=10) as response:
            page = json.load(response)
    except (OSError, HTTPException, ValueError) as error:
        print(error, file=sys.stderr)  # steps 5 and 6
    else:
        for change in page["changes"]:
            print(change["nftId"], change["outputId"] or "burned", flush=True)
        seen = page["to"]
        if seen < page["ledgerIndex"]:
            continue
    time.sleep(5)
