/** The routes. Each view is a separate chunk. */
import { lazy, Suspense } from "react";
import { Route, Switch, useLocation } from "wouter";
import { lazyImport } from "./lib/lazyImport";
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
const Operators = lazy(lazyImport(() => import("./views/operators/Operators")));
const RedTeam = lazy(lazyImport(() => import("./views/red-team/RedTeam")));
const Settings = lazy(lazyImport(() => import("./views/settings/Settings")));

export function App(): React.JSX.Element {
  const [path] = useLocation();
  return (
    <Shell>
      <ErrorBoundary key={path}>
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
            <Route path="/operators" component={Operators} />
            <Route path="/red-team" component={RedTeam} />
            <Route path="/settings" component={Settings} />
            <Route>
              <NotFound />
            </Route>
          </Switch>
        </Suspense>
      </ErrorBoundary>
    </Shell>
  );
}
