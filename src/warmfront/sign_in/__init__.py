"""Sign-in with OpenID Connect or GitHub: the authorization code flow with PKCE, state and nonce."""
