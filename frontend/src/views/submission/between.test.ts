import { describe, expect, it } from "vitest";
import { between } from "./between";

describe("between", () => {
  it("says the unit once, by the larger end", () => {
    expect(between([0.1234, 0.12412])).toBe("123.4 – 124.1 µs");
    expect(between([0.9996, 1.002])).toBe("0.9996 – 1.002 ms");
    expect(between([1500, 2500])).toBe("1.500 – 2.500 s");
    expect(between([1e-7, 2e-7])).toBe("0.1000 – 0.2000 ns");
  });
});
