"""Looks up an NFT, reads its output, and lists the NFTs of an issuer page by page."""

import json
from urllib.parse import urlencode
from urllib.request import urlopen

NODE = "http://127.0.0.1:8787"


def get(path, **query):
    with urlopen(f"{NODE}{path}?{urlencode(query)}", timeout=10) as response:
        return json.load(response)


nft_id = "0x0255e84806dc0be4c149f11753a93fe2b6bd79a659649a0b238f8e2af1785aa7"
found = get(f"/api/indexer/v1/outputs/nft/{nft_id}")
[output_id] = found["items"]
amount = get(f"/api/core/v2/outputs/{output_id}")["output"]["amount"]
print(f"{output_id} holds {amount} at ledger index {found['ledgerIndex']}")

issuer = "smr1zq6yg8qf59prjwx72ldzwux0g6se3r5xpt7x3xtc67xlx0p9u63fktney6m"
page = get("/api/indexer/v1/outputs/nft", issuer=issuer, pageSize=10)
print(f"a page of {len(page['items'])}")
while "cursor" in page:
    # a cursor has its page size
    page = get("/api/indexer/v1/outputs/nft", issuer=issuer, cursor=page["cursor"])
    print(f"a page of {len(page['items'])}")
