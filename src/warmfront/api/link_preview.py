"""The preview of a shared link: Open Graph tags for the served HTML, and an image.

Sites that show previews have no session, so a preview exists only for what everyone with the link may open.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from warmfront.api.preview_image import HEIGHT_PX, WIDTH_PX, TextLine, draw_preview
from warmfront.errors import WarmfrontError
from warmfront.store.account_records import SharedKind, Visibility
from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from warmfront.api.context import ServiceContext
    from warmfront.store.account_records import Share
    from warmfront.submission import Submission


@dataclass(frozen=True, kw_only=True)
class LinkPreview:
    """The preview that other sites show for a link to a shared result."""

    share_id: str
    title: str
    description: str
    lines: tuple[TextLine, ...]  #: of the image

    def tags(self, origin: str) -> str:
        """Return the tags for the head of the HTML; `origin` is the address of the service."""
        image = f"{origin}/s/{self.share_id}/preview.png"
        properties = {
            "og:type": "article",
            "og:site_name": "Warmfront",
            "og:title": self.title,
            "og:description": self.description,
            "og:url": f"{origin}/s/{self.share_id}",
            "og:image": image,
            "og:image:width": str(WIDTH_PX),
            "og:image:height": str(HEIGHT_PX),
            "og:image:alt": self.description,
        }
        tags = [f'<meta property="{name}" content="{escape(text)}">' for name, text in properties.items()]
        return "".join([*tags, '<meta name="twitter:card" content="summary_large_image">'])

    def image(self) -> bytes:
        """Return the image as a PNG."""
        return draw_preview(self.lines)


async def find_preview(service: ServiceContext, share_id: str) -> LinkPreview | None:
    """Return the preview of a share; None if it does not exist, is private, or cannot be read now."""
    try:
        share = await service.store.shares.find(share_id)
        if share is None or share.visibility is Visibility.PRIVATE:
            return None
        submission = None
        if share.submission_id is not None:
            submission = await service.store.get_submission(share.submission_id)
    except WarmfrontError:  # the page itself is served without the database
        return None
    return _preview(share, submission)


def _preview(share: Share, submission: Submission | None) -> LinkPreview:
    noun = "X-ray" if share.kind is SharedKind.XRAY else "submission"
    name = share.problem or "kernel"
    verdict, color, details = _result(submission)
    title = f"{name}: {verdict}" if verdict else f"{name}: {noun}"
    lines = [
        TextLine("Warmfront", 5, "dim"),
        TextLine(name, 13, "text"),
        TextLine(verdict or noun, 9, color),
        TextLine(details, 6, "text"),
        TextLine(f"by {share.owner}", 6, "dim"),
    ]
    return LinkPreview(
        share_id=share.id,
        title=title,
        description=", ".join(part for part in (f"A HIP {noun} by {share.owner}", details) if part),
        lines=tuple(line for line in lines if line.text),
    )


def _result(submission: Submission | None) -> tuple[str, str, str]:
    """Return the verdict, its color, and GPU and time."""
    if submission is None:
        return "", "accent", ""
    verdict = (submission.verdict or "running").replace("_", " ").capitalize()
    is_good = submission.verdict in {"ACCEPTED", "CHECKED", "BENCHMARKED"}
    time = "" if submission.avg_runtime_ms is None else f"{submission.avg_runtime_ms:.4g} ms on "
    gpu = f"{submission.gpu} (simulated)" if submission.simulated else submission.gpu
    return verdict, "good" if is_good else "bad", f"{time}{gpu}"
