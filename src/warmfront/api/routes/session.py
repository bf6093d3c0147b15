"""Sign in and out, and report who is signed in. These routes are open to everyone."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Literal

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, RedirectResponse, Response

from warmfront.api.auth import cookie_value
from warmfront.api.browser_origin import CALLBACK_PATH, BrowserOrigin
from warmfront.api.deps import CallerDep, OptionalCallerDep, ServiceDep
from warmfront.api.openapi import error_responses_for
from warmfront.errors import NotFound, OnStandby, SignInFailed, WarmfrontError
from warmfront.roles import Role
from warmfront.sign_in.transaction import SignInTransaction
from warmfront.store.account_records import Identity, SignUpPolicy
from warmfront.wire.accounts import SessionResponse, SignInRequest, SignInResponse

if TYPE_CHECKING:
    from warmfront.api.auth import Caller
    from warmfront.api.context import ServiceContext
    from warmfront.settings import Settings
    from warmfront.sign_in.provider import IdentityProvider

logger = logging.getLogger(__name__)

router = APIRouter(prefix="/session", tags=["accounts"])
#: The callback of the issuer, which is not part of the API.
callback_router = APIRouter()


@router.get("", responses=error_responses_for(409))
async def get_session(service: ServiceDep, caller: OptionalCallerDep, request: Request) -> SessionResponse:
    """Return who is signed in, and where to sign in. Open to everyone."""
    provider = service.identity_provider
    sign_in_name = None if provider is None else provider.name
    if caller is None:
        return SessionResponse(
            user=None,
            display_name="",
            email=None,
            role=None,
            team=None,
            manages_team=False,
            authentication=None,
            expires_at=None,
            sign_in_name=sign_in_name,
        )
    user = await service.store.accounts.find_user(caller.user)
    return SessionResponse(
        user=caller.user,
        display_name=user.display_name if user else "",
        email=user.email if user else None,
        role=caller.role,
        team=caller.team,
        manages_team=caller.manages_team,
        authentication=_authentication(caller),
        expires_at=await _session_end(service, request),
        sign_in_name=sign_in_name,
    )


@router.post("/sign-in", response_model=SignInResponse, responses=error_responses_for(404, 413, 415, 422))
async def begin_sign_in(body: SignInRequest, service: ServiceDep, request: Request) -> Response:
    """Begin a sign-in: returns the address at which the person signs in, and sets a cookie. For browsers."""
    provider = _require_provider(service)
    if service.state == "standby":
        raise OnStandby  # it could not store the session, after the person has signed in
    origin = BrowserOrigin.of(service.settings, request.headers)
    origin.reject_csrf(request.method, request.headers)
    if body.invitation is not None:
        await service.store.accounts.require_usable_invitation(body.invitation, service.clock.now())
    transaction = SignInTransaction.begin(body.return_to, body.invitation)
    url = await provider.authorization_url(transaction, origin.redirect_uri)
    response = JSONResponse(SignInResponse(url=url).model_dump())
    origin.set_sign_in(response, transaction.cookie())
    return response


@router.post("/sign-out", status_code=204, responses=error_responses_for(413, 422))
async def sign_out(service: ServiceDep, caller: CallerDep, request: Request) -> Response:
    """End the session of this browser."""
    response = Response(status_code=204)
    if caller.session_id is not None:
        await service.store.accounts.end_session(caller.session_id)
        origin = BrowserOrigin.of(service.settings, request.headers)
        origin.clear(response, origin.session_cookie)
    return response


@callback_router.get(CALLBACK_PATH, include_in_schema=False)
async def complete_sign_in(service: ServiceDep, request: Request) -> Response:
    """Begin a session for the person who signed in at the issuer, and open the page again."""
    provider = _require_provider(service)
    origin = BrowserOrigin.of(service.settings, request.headers)
    transaction = SignInTransaction.parse(cookie_value(request.headers, origin.sign_in_cookie))
    try:
        token = await _sign_in(service, provider, origin, transaction, request)
    except WarmfrontError as error:
        logger.warning("sign-in failed: %s: %s", error.code, error.message)
        response = RedirectResponse(f"/sign-in?error={error.code}", 303)
    else:
        response = RedirectResponse(transaction.return_to if transaction else "/", 303)
        origin.set_session(response, token, service.settings.session_s)
    origin.clear(response, origin.sign_in_cookie)
    response.headers["Cache-Control"] = "no-store"
    return response


async def _sign_in(
    service: ServiceContext,
    provider: IdentityProvider,
    origin: BrowserOrigin,
    transaction: SignInTransaction | None,
    request: Request,
) -> str:
    if transaction is None:
        raise SignInFailed("The sign-in took too long, or was started in another browser.")
    identity = await provider.identify(transaction, origin.redirect_uri, dict(request.query_params))
    policy = SignUpPolicy(
        is_admin=is_named_admin(service.settings, identity),
        default_role=None if service.settings.sign_up == "invited" else Role(service.settings.sign_up),
        invitation_secret=transaction.invitation,
    )
    user, token = await service.store.accounts.sign_in(
        identity, policy, service.clock.now(), session_s=service.settings.session_s
    )
    logger.info("user %s (%s) signed in", user.name, user.role)
    return token


def is_named_admin(settings: Settings, identity: Identity) -> bool:
    """Return whether WARMFRONT_ADMINS names this person, by subject or by verified e-mail address."""
    return identity.subject in settings.admins or (identity.email or "") in settings.admins


def _require_provider(service: ServiceContext) -> IdentityProvider:
    if service.identity_provider is None:
        raise NotFound(
            "Sign-in is not set up on this service.", hint="Send an API key, or set WARMFRONT_OIDC_ISSUER."
        )
    return service.identity_provider


def _authentication(caller: Caller) -> Literal["local", "key", "session"]:
    if caller.session_id is not None:
        return "session"
    return "local" if caller.key_id is None else "key"


async def _session_end(service: ServiceContext, request: Request) -> float | None:
    if service.identity_provider is None or "authorization" in request.headers:
        return None
    origin = BrowserOrigin.of(service.settings, request.headers)
    token = cookie_value(request.headers, origin.session_cookie)
    session = await service.store.accounts.find_session(token, service.clock.now()) if token else None
    return None if session is None else session.expires_at
