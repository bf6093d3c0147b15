/** Sign in, or say why a sign-in failed. */
import { useSearchParams } from "wouter";
import { MessagePage } from "../../components/MessagePage";
import { SignInButton } from "../../components/SignInButton";
import { promptForKey } from "../../lib/api";
import { useTitle } from "../../lib/hooks";
import { useSession } from "../../lib/session";
import { signInProblem } from "./signInProblem";

export default function SignIn(): React.JSX.Element {
  useTitle("Sign in");
  const session = useSession();
  const [search] = useSearchParams();
  const problem = signInProblem(search.get("error"));
  if (session === null) return <p className="dim">Loading…</p>;
  if (session.sign_in_name === null) {
    return (
      <MessagePage title="Sign in">
        <p>Sign-in is not set up on this service. An operator can set WARMFRONT_OIDC_ISSUER.</p>
      </MessagePage>
    );
  }
  return (
    <MessagePage title={problem === null ? "Sign in" : problem.title}>
      {problem !== null && (
        <div className="note bad" role="alert">
          <p>{problem.detail}</p>
        </div>
      )}
      {session.user !== null && <p>You are signed in as {session.user}.</p>}
      <div className="stack">
        <SignInButton returnTo="/" />
        <p className="dim small">
          Programs, and people without an account, use an API key.{" "}
          <button type="button" className="button small" onClick={() => promptForKey("Enter an API key.")}>
            Enter API key
          </button>
        </p>
      </div>
    </MessagePage>
  );
}
