/** The quote for the next run, refreshed every few seconds while nothing runs. */
import { quote } from "../../lib/api";
import { useQuery } from "../../lib/hooks";
import type { QuoteResponse } from "../../lib/generated";

const REFRESH_MS = 5000;

/** A new value of `after`, such as the id of the last run, fetches a new quote at once. */
export function useQuote(slug: string, gpu: string, busy: boolean, after: string): QuoteResponse | null {
  const { data } = useQuery(
    `quote ${slug} ${gpu} ${busy ? "busy" : after}`,
    () => (gpu === "" ? Promise.resolve(null) : quote(slug, gpu, "submit")),
    busy ? undefined : REFRESH_MS,
  );
  return data;
}
