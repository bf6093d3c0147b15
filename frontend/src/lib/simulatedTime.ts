/** The kind of time of a simulated run, by the toolchain that measured it. */
const KINDS: Record<string, string> = {
  cpu: "simulated CPU time",
  stub: "virtual time of a stub GPU",
};

/** `simulated CPU time`, for example. */
export function simulatedTime(toolchain: string): string {
  return KINDS[toolchain] ?? "simulated time";
}

/** What a reader should know about a simulated verdict. */
export function simulationNote(toolchain: string): string {
  if (toolchain === "stub") {
    return "Simulated on a stub GPU: the verdict is valid; the times come from its model of a GPU, on a virtual clock.";
  }
  return "Simulated on the CPU runtime: the verdict is valid; the times are the CPU time of one core, not times of a GPU.";
}
