/** What the next run will take, asked again every few seconds while nothing runs. */
import { quote } from "../../lib/api";
import { useQuery } from "../../lib/hooks";
import type { Offer } from "../../lib/types";

const EVERY_MS = 5000;

/** `after` is anything that changes it, such as the last run. */
export function useOffer(slug: string, gpu: string, busy: boolean, after: string): Offer | null {
  const { data } = useQuery(
    `quote ${slug} ${gpu} ${busy ? "busy" : after}`,
    () => (gpu === "" ? Promise.resolve(null) : quote(slug, gpu, "submit")),
    busy ? undefined : EVERY_MS,
  );
  return data;
}
