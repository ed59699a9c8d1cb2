"""Calls each operation through the client that openapi-python-client wrote into the package `edge`.

    python drive.py CALLS

CALLS is a JSON file: by operation ID a node's URL and the arguments `path`, `query` and `body`.
Prints JSON: by operation ID the status and what the client made of the answer.
"""
import importlib
import inspect
import json
import pkgutil
import re
import sys

import edge.api
from edge.client import Client
from edge.types import Unset

MODULES = {
    name.rsplit(".", 1)[1]: name
    for _, name, is_package in pkgutil.walk_packages(edge.api.__path__, "edge.api.")
    if not is_package
}


def snake(name):
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def plain(value):
    """What the client parsed, as JSON has it."""
    if isinstance(value, list):
        return [plain(each) for each in value]
    if hasattr(value, "to_dict"):
        return value.to_dict()
    return None if isinstance(value, Unset) else value


def call(operation, url, path, query, body):
    module = importlib.import_module(MODULES[snake(operation)])
    arguments = {snake(name): value for name, value in {**path, **query}.items()}
    if body is not None:
        model = inspect.signature(module.sync_detailed).parameters["body"].annotation
        arguments["body"] = model.from_dict(body)
    answer = module.sync_detailed(client=Client(base_url=url), **arguments)
    return {"status": answer.status_code, "body": plain(answer.parsed)}


with open(sys.argv[1], encoding="utf-8") as file:
    calls = json.load(file)
print(json.dumps({operation: call(operation, **rest) for operation, rest in calls.items()}))
