/* A certified OpenID Connect issuer on loopback, for tests: npm's oidc-provider.
 *
 * It prints one line with its address when it listens, and ends when its standard input is closed. Anyone can sign in
 * with any name and password; the name decides the claims. CLIENT_ID, CLIENT_SECRET and REDIRECT_URIS describe the
 * only client.
 */
import { createServer } from "node:http";
import { generateKeyPairSync, randomBytes } from "node:crypto";
import Provider from "oidc-provider";

const { CLIENT_ID, CLIENT_SECRET, REDIRECT_URIS } = process.env;

function signingKey() {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  return { ...privateKey.export({ format: "jwk" }), use: "sig", alg: "RS256", kid: "test" };
}

/** The name of a person with "unverified" in it has an e-mail address that the issuer has not verified. */
function findAccount(_context, id) {
  const claims = {
    sub: `subject-of-${id}`,
    preferred_username: id,
    name: `${id[0].toUpperCase()}${id.slice(1)} Example`,
    email: `${id}@example.com`,
    email_verified: !id.includes("unverified"),
  };
  return { accountId: id, claims: async () => claims };
}

/** The client needs no consent: it belongs to the same people as the issuer. */
async function loadExistingGrant(context) {
  const { session, client, params, provider } = context.oidc;
  const grant = new provider.Grant({ accountId: session.accountId, clientId: client.clientId });
  grant.addOIDCScope(params.scope);
  await grant.save();
  return grant;
}

/** A plain form that loads nothing: oidc-provider's own one loads a font from another site. */
const FORM = `<!doctype html><html lang="en"><title>Sign in</title><h1>Sign in to the test issuer</h1>
<form method="post"><label>Name <input name="login" required autofocus></label>
<button>Continue</button></form></html>`;

async function serveInteraction(provider, request, response) {
  await provider.interactionDetails(request, response); // checks the cookie of the browser
  if (request.method === "GET") {
    response.setHeader("Content-Type", "text/html; charset=utf-8");
    response.end(FORM);
    return;
  }
  let body = "";
  for await (const chunk of request) body += chunk;
  const login = new URLSearchParams(body).get("login");
  const result = login === "" ? { error: "access_denied", error_description: "no name given" } : { login: { accountId: login } };
  await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
}

const server = createServer();
server.listen(0, "127.0.0.1", () => {
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: CLIENT_ID,
        client_secret: CLIENT_SECRET,
        redirect_uris: JSON.parse(REDIRECT_URIS),
        response_types: ["code"],
        grant_types: ["authorization_code"],
      },
    ],
    claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name", "preferred_username"] },
    cookies: { keys: [randomBytes(32).toString("hex")] },
    features: { devInteractions: { enabled: false } },
    findAccount,
    interactions: { url: (_context, interaction) => `/interaction/${interaction.uid}` },
    loadExistingGrant,
    jwks: { keys: [signingKey()] },
    pkce: { required: () => true },
  });
  const callback = provider.callback();
  server.on("request", (request, response) => {
    if (!request.url.startsWith("/interaction/")) callback(request, response);
    else
      serveInteraction(provider, request, response).catch((error) => {
        response.statusCode = 500;
        response.end(String(error));
      });
  });
  console.log(issuer);
});
process.stdin.resume();
process.stdin.on("end", () => process.exit(0));
