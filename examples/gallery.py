"""Shows the NFTs of an issuer, with names, traits and owners, and counts who owns them."""

import json
from urllib.parse import urlencode
from urllib.request import urlopen

NODE = "http://127.0.0.1:8787"


def get(path, **query):
    with urlopen(f"{NODE}{path}?{urlencode(query)}", timeout=10) as response:
        return json.load(response)


issuer = "smr1zq6yg8qf59prjwx72ldzwux0g6se3r5xpt7x3xtc67xlx0p9u63fktney6m"
query = {"issuer": issuer, "pageSize": 10}
while query:
    page = get("/api/edge/v1/nfts", **query)
    nft = page["nfts"][0]
    claims = nft.get("claims", {})
    print(f"{claims.get('name')} of {nft['owner']['address']}")
    print(", ".join(str(trait["value"]) for trait in claims.get("attributes", [])[:3]))
    query = {"issuer": issuer, "cursor": page["cursor"]} if "cursor" in page else None

collection = get(f"/api/edge/v1/collections/{issuer}/owners")
most = max(owner["nftCount"] for owner in collection["owners"])
print(f"{collection['ownerCount']} own {collection['nftCount']}, nobody more than {most}")
