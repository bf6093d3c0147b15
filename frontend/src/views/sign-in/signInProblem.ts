/** What to tell a person whose sign-in failed, by the code in the address. */
export interface SignInProblem {
  title: string;
  detail: string;
}

const PROBLEMS: Record<string, SignInProblem> = {
  ISSUER_UNAVAILABLE: {
    title: "Sign-in is unavailable",
    detail: "The server at which people sign in does not respond. Try again in a minute. API keys work without it.",
  },
  SIGN_IN_FAILED: {
    title: "The sign-in failed",
    detail: "It was cancelled, took longer than ten minutes, was started in another browser, or could not be verified. Sign in again.",
  },
  SIGN_IN_REJECTED: { title: "Your account is disabled", detail: "Ask an admin of this service to enable it." },
  NOT_INVITED: {
    title: "An invitation is required",
    detail: "There is no account for you on this service. Ask an admin for an invitation link, and open it to sign in.",
  },
  INVITATION_USED: {
    title: "The invitation has already been used",
    detail: "Each invitation works once. Ask the person who sent it for a new one.",
  },
  INVITATION_REVOKED: { title: "The invitation was revoked", detail: "Ask the person who sent it for a new one." },
  INVITATION_EXPIRED: { title: "The invitation has expired", detail: "Ask the person who sent it for a new one." },
  INVITATION_UNKNOWN: {
    title: "The invitation is not valid",
    detail: "The link is incomplete, or belongs to another service. Ask the person who sent it for a new one.",
  },
};

/** Return the problem of a code; null without a code. The text never contains the address, which anyone can write. */
export function signInProblem(code: string | null): SignInProblem | null {
  if (code === null) return null;
  return PROBLEMS[code] ?? { title: "The sign-in failed", detail: "Sign in again. If it fails again, inform an operator." };
}
