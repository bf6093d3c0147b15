/** The routes. Each view is a separate chunk. */
import { lazy, Suspense } from "react";
import { Route, Switch, useLocation } from "wouter";
import { lazyImport } from "./lib/lazyImport";
import { lastUser } from "./lib/pageUser";
import { useSession } from "./lib/session";
import { ErrorBoundary } from "./components/ErrorBoundary";
import { NotFound } from "./components/MessagePage";
import { Shell } from "./components/Shell";

const Problems = lazy(lazyImport(() => import("./views/problems/Problems")));
const Problem = lazy(lazyImport(() => import("./views/problem/Problem")));
const Submissions = lazy(lazyImport(() => import("./views/submissions/Submissions")));
const Submission = lazy(lazyImport(() => import("./views/submission/Submission")));
const Compare = lazy(lazyImport(() => import("./views/compare/Compare")));
const Leaderboard = lazy(lazyImport(() => import("./views/leaderboard/Leaderboard")));
const Operations = lazy(lazyImport(() => import("./views/operations/Operations")));
const Scratch = lazy(lazyImport(() => import("./views/scratch/Scratch")));
const Operators = lazy(lazyImport(() => import("./views/operators/Operators")));
const RedTeam = lazy(lazyImport(() => import("./views/red-team/RedTeam")));
const Account = lazy(lazyImport(() => import("./views/account/Account")));
const Embed = lazy(lazyImport(() => import("./views/shared/Embed")));
const Join = lazy(lazyImport(() => import("./views/join/Join")));
const People = lazy(lazyImport(() => import("./views/people/People")));
const Shared = lazy(lazyImport(() => import("./views/shared/Shared")));
const SharedList = lazy(lazyImport(() => import("./views/shared/SharedList")));
const SignIn = lazy(lazyImport(() => import("./views/sign-in/SignIn")));
const Team = lazy(lazyImport(() => import("./views/team/Team")));
const Settings = lazy(lazyImport(() => import("./views/settings/Settings")));

export function App(): React.JSX.Element {
  const [path] = useLocation();
  const session = useSession();
  const user = session?.user ?? lastUser(); // drafts and runs belong to a user
  if (path.startsWith("/embed/")) {
    return (
      <ErrorBoundary>
        <Suspense fallback={<p className="dim">Loading…</p>}>
          <Embed id={path.slice("/embed/".length)} />
        </Suspense>
      </ErrorBoundary>
    );
  }
  return (
    <Shell>
      <ErrorBoundary key={path}>
        <Suspense fallback={<p className="dim">Loading…</p>}>
          <Switch>
            <Route path="/" component={Problems} />
            <Route path="/problems" component={Problems} />
            <Route path="/problems/scratch" component={Scratch} />
            <Route path="/problems/:slug">{({ slug }) => <Problem key={`${user} ${slug}`} slug={slug} />}</Route>
            <Route path="/submissions" component={Submissions} />
            <Route path="/submissions/:id">{({ id }) => <Submission key={id} id={id} />}</Route>
            <Route path="/compare/:a/:b">{({ a, b }) => <Compare key={`${a}/${b}`} a={a} b={b} />}</Route>
            <Route path="/leaderboard/:slug">{({ slug }) => <Leaderboard key={slug} slug={slug} />}</Route>
            <Route path="/operations" component={Operations} />
            <Route path="/scratch" component={Scratch} />
            <Route path="/operators" component={Operators} />
            <Route path="/red-team" component={RedTeam} />
            <Route path="/settings" component={Settings} />
            <Route path="/sign-in" component={SignIn} />
            <Route path="/join" component={Join} />
            <Route path="/account" component={Account} />
            <Route path="/people" component={People} />
            <Route path="/team" component={Team} />
            <Route path="/shared" component={SharedList} />
            <Route path="/s/:id">{({ id }) => <Shared key={id} id={id} />}</Route>
            <Route>
              <NotFound />
            </Route>
          </Switch>
        </Suspense>
      </ErrorBoundary>
    </Shell>
  );
}
