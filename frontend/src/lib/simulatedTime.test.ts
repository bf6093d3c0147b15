import { describe, expect, it } from "vitest";
import { simulatedTime, simulationNote } from "./simulatedTime";

describe("simulatedTime", () => {
  it("names the clock of each toolchain", () => {
    expect(simulatedTime("cpu")).toBe("simulated CPU time");
    expect(simulatedTime("stub")).toBe("virtual time of a stub GPU");
    expect(simulatedTime("rocjitsu")).toBe("simulated time");
  });

  it("does not call the times of a stub GPU CPU time", () => {
    expect(simulationNote("cpu")).toContain("CPU time of one core");
    expect(simulationNote("stub")).not.toContain("CPU time");
  });
});
