"""Sharing: private, unlisted and public submissions and X-rays, and the parts that others see."""

from __future__ import annotations

import pytest

from tests.support.api_harness import GOOD, ApiHarness, Client, served
from warmfront.api.link_preview import LinkPreview
from warmfront.roles import Role


async def _submitted(client: Client) -> str:
    answer = await client.submit(accept="text/event-stream", endpoint="submit")
    assert answer.status == 200
    return str(answer.events()[0]["submission_id"])


def _anonymous(harness: ApiHarness) -> Client:
    return harness.client.with_key(None)


@served()
async def test_a_submission_is_private_until_it_is_shared(harness: ApiHarness) -> None:
    """Its owner gets a link that works without a key; the link stays the same and stops working."""
    ada, bob, anyone = harness.user("ada"), harness.user("bob"), _anonymous(harness)
    submission = await _submitted(ada)
    path = f"/api/amd/submissions/{submission}/share"
    before = (await ada.get(path)).json()
    assert (before["visibility"], before["link"]) == ("private", None)
    assert (await bob.get(path)).status == 404
    shared = (await ada.post(path, {"visibility": "unlisted"})).json()
    assert shared["link"] == f"http://127.0.0.1:3000/s/{shared['id']}"
    assert shared["embed_link"] == f"http://127.0.0.1:3000/embed/{shared['id']}"
    for client in (ada, bob, anyone):
        seen = await client.get(f"/api/amd/shared/{shared['id']}")
        assert seen.status == 200, seen.body
        body = seen.json()
        assert (body["user"], body["source"], body["own"]) == ("ada", GOOD, client is ada)
        assert body["submission"]["verdict"] == "ACCEPTED"
        assert body["submission"]["cost_usd"] is None
        assert body["events"][-1]["status"] == "ACCEPTED"
        assert "cost_usd" not in body["events"][-1]
        assert not {"IN_QUEUE", "VM_READY"} & {event["status"] for event in body["events"]}
        assert "cost_usd" not in body["submission"]["result"]
    assert (await bob.get(f"/api/amd/submissions/{submission}")).status == 404
    private = (await ada.post(path, {"visibility": "private"})).json()
    assert private["id"] == shared["id"]
    for client in (bob, anyone):
        gone = await client.get(f"/api/amd/shared/{shared['id']}")
        assert (gone.status, gone.json()["code"]) == (403, "MADE_PRIVATE")
        assert gone.json()["detail"] == "The owner of this submission has made it private."
    assert (await ada.get(f"/api/amd/shared/{shared['id']}")).status == 200
    again = (await ada.post(path, {"visibility": "public"})).json()
    assert again["id"] == shared["id"]
    assert (await anyone.get(f"/api/amd/shared/{shared['id']}")).status == 200


@served()
async def test_only_public_results_are_listed(harness: ApiHarness) -> None:
    """An unlisted one needs its link; each user lists their own."""
    ada, anyone = harness.user("ada"), _anonymous(harness)
    ids = [await _submitted(ada) for _ in range(3)]
    for submission, visibility in zip(ids, ("public", "unlisted", "private"), strict=True):
        await ada.post(f"/api/amd/submissions/{submission}/share", {"visibility": visibility})
    listed = (await anyone.get("/api/amd/shared")).json()["items"]
    assert [(item["user"], item["problem"]) for item in listed] == [("ada", "leaky-relu")]
    own = (await ada.get("/api/amd/shares")).json()["items"]
    assert {item["visibility"] for item in own} == {"public", "unlisted", "private"}
    assert (await harness.user("bob").get("/api/amd/shares")).json()["items"] == []


@served()
async def test_only_the_owner_shares(harness: ApiHarness) -> None:
    """An operator sees every submission, but does not decide who else does; a reader shares nothing."""
    ada, operator = harness.user("ada"), harness.user("olga", Role.OPERATOR)
    submission = await _submitted(ada)
    path = f"/api/amd/submissions/{submission}/share"
    assert (await operator.get(path)).status == 200
    assert (await operator.post(path, {"visibility": "public"})).status == 404
    reader = harness.user("rea", Role.READER)
    refused = await reader.post(path, {"visibility": "public"})
    assert (refused.status, refused.json()["role_needed"]) == (403, "author")
    share = (await ada.post(path, {"visibility": "unlisted"})).json()["id"]
    changed = await operator.post(f"/api/amd/shares/{share}", {"visibility": "public"})
    assert changed.status == 404
    assert (await _anonymous(harness).get("/api/amd/shares")).status == 401


@served()
async def test_an_xray_is_shared_with_its_source(harness: ApiHarness) -> None:
    """The service makes the report itself, so that a shared report is never forged."""
    ada, anyone = harness.user("ada"), _anonymous(harness)
    created = await ada.post(
        "/api/amd/shares/xray", {"solution_code": GOOD, "problem": "relu", "visibility": "unlisted"}
    )
    assert created.status == 201, created.body
    share = created.json()["id"]
    seen = (await anyone.get(f"/api/amd/shared/{share}")).json()
    assert (seen["kind"], seen["problem"], seen["source"], seen["arch"]) == ("xray", "relu", GOOD, "gfx942")
    assert seen["xray"]["arch"] == "gfx942"
    await ada.post(f"/api/amd/shares/{share}", {"visibility": "private"})
    gone = await anyone.get(f"/api/amd/shared/{share}")
    assert gone.json()["detail"] == "The owner of this X-ray has made it private."


@pytest.mark.parametrize(
    ("body", "field"),
    [({"visibility": "secret"}, "visibility"), ({}, "visibility"), ({"visibility": "public", "x": 1}, "x")],
)
def test_an_invalid_visibility_is_rejected(body: dict[str, object], field: str) -> None:
    """The error names the field and the allowed values."""

    @served()
    async def ask(harness: ApiHarness) -> None:
        ada = harness.user("ada")
        submission = await _submitted(ada)
        answer = await ada.post(f"/api/amd/submissions/{submission}/share", body)
        assert (answer.status, answer.json()["field"]) == (422, field)
        if field == "visibility" and body:
            assert "'private', 'unlisted' or 'public'" in answer.json()["detail"]

    ask()


@served(start=False)
async def test_an_unknown_link(harness: ApiHarness) -> None:
    """It gets 404, with and without a key."""
    for client in (harness.user("ada"), _anonymous(harness)):
        answer = await client.get("/api/amd/shared/shr_nothing")
        assert (answer.status, answer.json()["code"]) == (404, "NOT_FOUND")


@served()
async def test_a_link_has_a_preview_while_it_is_shared(harness: ApiHarness) -> None:
    """The HTML has Open Graph tags with an image; a private result has neither."""
    ada, anyone = harness.user("ada"), _anonymous(harness)
    submission = await _submitted(ada)
    path = f"/api/amd/submissions/{submission}/share"
    share = (await ada.post(path, {"visibility": "unlisted"})).json()["id"]
    page = await anyone.get(f"/s/{share}", accept="text/html")
    if page.status == 503:
        pytest.skip("the page is not built")
    html = page.body.decode()
    assert '<meta property="og:title" content="leaky-relu: Accepted">' in html
    assert f'<meta property="og:image" content="http://127.0.0.1:3000/s/{share}/preview.png">' in html
    assert "frame-ancestors 'none'" in page.headers["content-security-policy"]
    image = await anyone.get(f"/s/{share}/preview.png")
    assert (image.status, image.headers["content-type"]) == (200, "image/png")
    assert image.body.startswith(b"\x89PNG")
    await ada.post(path, {"visibility": "private"})
    assert "og:title" not in (await anyone.get(f"/s/{share}", accept="text/html")).body.decode()
    assert (await anyone.get(f"/s/{share}/preview.png")).status == 404
    assert (await anyone.get("/s/shr_nothing/preview.png")).status == 404


@served(start=False)
async def test_only_the_embedded_view_may_be_framed(harness: ApiHarness) -> None:
    """Its policy differs from that of every other view only in who may show it in a frame."""
    embedded = await harness.client.get("/embed/shr_1")
    other = await harness.client.get("/problems")
    policies = [answer.headers["content-security-policy"] for answer in (embedded, other)]
    assert "frame-ancestors *" in policies[0]
    assert "frame-ancestors 'none'" in policies[1]


def test_a_preview_escapes_its_text() -> None:
    """Names of problems and users cannot add tags to the page."""
    preview = LinkPreview(share_id="shr_1", title='"><script>', description="<b>", lines=())
    tags = preview.tags("http://127.0.0.1:3000")
    assert "<script>" not in tags
    assert "<b>" not in tags
