/** Who may use the service: users and invitations for admins, API keys and teams for operators. */
import { useState } from "react";
import { Link } from "wouter";
import { ApiKeys } from "../../components/ApiKeys";
import { MessagePage } from "../../components/MessagePage";
import { useTitle } from "../../lib/hooks";
import { includes, useSession } from "../../lib/session";
import { Invitations } from "./Invitations";
import { ALL_KEYS } from "./requests";
import { Teams } from "./Teams";
import { Users } from "./Users";
import "../../components/account.css";

export default function People(): React.JSX.Element {
  useTitle("People");
  const session = useSession();
  // A change of a user or a key can change the members of teams.
  const [round, setRound] = useState(0);
  const changed = (): void => setRound((n) => n + 1);
  if (session === null) return <p className="dim">Loading…</p>;
  if (!includes(session.role, "operator")) {
    return (
      <MessagePage title="Operators only">
        <p>Only operators can manage keys and teams, and only admins can manage users. Ask one of them.</p>
      </MessagePage>
    );
  }
  const isAdmin = includes(session.role, "admin");
  return (
    <div className="stack">
      <div className="row">
        <h1 className="grow">People</h1>
        <Link href="/operators">Operators</Link>
      </div>
      {session.sign_in_name === null && (
        <div className="note info">
          People can sign in on the page once an operator sets WARMFRONT_OIDC_ISSUER: <a href="/docs/accounts/">Accounts</a>. Programs use API
          keys.
        </div>
      )}
      {isAdmin && session.sign_in_name !== null && (
        <>
          <Users onChange={changed} />
          <Invitations />
        </>
      )}
      <Teams round={round} isAdmin={isAdmin} />
      <ApiKeys
        source={ALL_KEYS}
        description={
          session.authentication === "local"
            ? "After the first key is created, every request needs one, even on this machine."
            : "Keys of all users, for programs. A key never has more permissions than its user."
        }
        onChange={changed}
      />
    </div>
  );
}
