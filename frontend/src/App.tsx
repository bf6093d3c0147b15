/** Which view is at which address. Each view is a chunk of its own. */
import { lazy, Suspense } from "react";
import { Route, Switch, useLocation } from "wouter";
import { chunk } from "./lib/chunks";
import { Boundary } from "./parts/Boundary";
import { Lost } from "./parts/Helping";
import { Shell } from "./parts/Shell";

const Problems = lazy(chunk(() => import("./views/problems/Problems")));
const Problem = lazy(chunk(() => import("./views/problem/Problem")));
const Submissions = lazy(chunk(() => import("./views/submissions/Submissions")));
const Submission = lazy(chunk(() => import("./views/submission/Submission")));
const Compare = lazy(chunk(() => import("./views/compare/Compare")));
const Leaderboard = lazy(chunk(() => import("./views/leaderboard/Leaderboard")));
const Operations = lazy(chunk(() => import("./views/operations/Operations")));
const Settings = lazy(chunk(() => import("./views/settings/Settings")));

export function App(): React.JSX.Element {
  const [place] = useLocation();
  return (
    <Shell>
      <Boundary key={place}>
        <Suspense fallback={<p className="dim">Loading…</p>}>
          <Switch>
            <Route path="/" component={Problems} />
            <Route path="/problems" component={Problems} />
            <Route path="/problems/:slug">{({ slug }) => <Problem key={slug} slug={slug} />}</Route>
            <Route path="/submissions" component={Submissions} />
            <Route path="/submissions/:id">{({ id }) => <Submission key={id} id={id} />}</Route>
            <Route path="/compare/:a/:b">{({ a, b }) => <Compare key={`${a}/${b}`} a={a} b={b} />}</Route>
            <Route path="/leaderboard/:slug">{({ slug }) => <Leaderboard key={slug} slug={slug} />}</Route>
            <Route path="/operations" component={Operations} />
            <Route path="/settings" component={Settings} />
            <Route>
              <Lost />
            </Route>
          </Switch>
        </Suspense>
      </Boundary>
    </Shell>
  );
}
