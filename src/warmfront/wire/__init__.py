"""The wire schema: every request, response and event of the HTTP API, declared once.

The API validates and serializes with these models, OpenAPI is generated from them, the SDK returns them and
`scripts/generate_types.py` writes the page's TypeScript types from that OpenAPI document.

Responses may gain fields without a new version (`docs/api.md` has the compatibility promise), so a field that
is added later needs a default: a client must still be able to read responses of a server that does not send
it.

Importing this package is cheap; its modules import Pydantic.
"""
