/** How long the credits last at some rates of work, where the service has worked it out. */
export function Forecast(): React.JSX.Element | null {
  return null;
}
