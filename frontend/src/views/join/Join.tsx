/** An invitation: what it gives, and the button to accept it. The secret is in the fragment of the address. */
import { useSyncExternalStore } from "react";
import { MessagePage } from "../../components/MessagePage";
import { SignInButton } from "../../components/SignInButton";
import { ApiError, previewInvitation } from "../../lib/api";
import { dateTime, dollars } from "../../lib/format";
import { useQuery, useTitle } from "../../lib/hooks";
import { useSession } from "../../lib/session";
import { signInProblem } from "../sign-in/signInProblem";

export default function Join(): React.JSX.Element {
  useTitle("Invitation");
  const secret = useHash();
  const user = useSession()?.user ?? null;
  const invitation = useQuery(`invitation ${secret}`, () => previewInvitation(secret));
  if (invitation.error !== null) {
    const code = invitation.error instanceof ApiError ? invitation.error.body.code : "";
    const problem = signInProblem(code);
    return (
      <MessagePage title={problem?.title ?? "Something went wrong"}>
        <p role="alert">{code.startsWith("INVITATION") ? problem?.detail : invitation.error.message}</p>
      </MessagePage>
    );
  }
  if (invitation.data === null) return <p className="dim">Loading…</p>;
  const { role, team, daily_budget_usd: budget, invited_by: inviter, expires_at: expires } = invitation.data;
  return (
    <MessagePage title="You are invited to Warmfront">
      <p>
        {inviter} invites you as <strong>{role}</strong>
        {team !== null && (
          <>
            {" "}
            in the team <strong>{team}</strong>
          </>
        )}
        {budget !== null && <>, with a budget of {dollars(budget)} per day</>}. The invitation works once, until{" "}
        {dateTime(expires)}.
      </p>
      {user !== null && (
        <p className="dim">You are signed in as {user}. Signing in again adds the permissions to the account that you choose.</p>
      )}
      <div className="stack">
        <SignInButton returnTo="/" invitation={secret} />
      </div>
    </MessagePage>
  );
}

/** The fragment of the address; it changes when another link is opened in the same tab. */
function useHash(): string {
  return useSyncExternalStore(
    (onChange) => {
      window.addEventListener("hashchange", onChange);
      return () => window.removeEventListener("hashchange", onChange);
    },
    () => location.hash.slice(1),
  );
}
