import { describe, expect, it } from "vitest";
import { toCsv, toJson, windowsCsv } from "./exports";

const timing = {
  test_id: 3,
  name: 'n = 1, "odd", a tail',
  runtime_ms: 1.5,
  outer_ms: 1.5,
  ci: [1.4, 1.6] satisfies [number, number],
  gflops: null,
  gbps: 20,
  pct_of_floor: null,
  runs: [1.4, 1.6],
};

describe("toCsv", () => {
  it("quotes names and leaves unknown values empty", () => {
    expect(toCsv([timing]).split("\r\n")[1]).toBe('3,"n = 1, ""odd"", a tail",1.5,1.4,1.6,,20,,2,1.4 1.6,false,,,');
  });

  it("escapes text that looks like a formula", () => {
    expect(toCsv([{ ...timing, name: "=HYPERLINK()" }])).toContain(",'=HYPERLINK(),");
  });

  it("has a header even without timings", () => {
    expect(toCsv([])).toMatch(/^test_id,case,runtime_ms,.*\r\n$/);
  });
});

describe("windowsCsv", () => {
  it("has one line per window, and says which were left out", () => {
    const windows = [
      { calls: 1, time_ms: 1.5, wall_ms: 1.75, cpu_ms: 1.5, waited_ms: 0.25 },
      { calls: 8, time_ms: 9, wall_ms: 20, discarded: true },
    ];
    expect(windowsCsv([{ ...timing, name: "n = 1", windows }]).split("\r\n")).toEqual([
      "test_id,case,window,calls,time_ms,wall_ms,cpu_ms,waited_ms,discarded",
      "3,n = 1,1,1,1.5,1.75,1.5,0.25,false",
      "3,n = 1,2,8,9,20,,,true",
      "",
    ]);
  });
});

describe("toJson", () => {
  it("is valid JSON with the record, events and source", () => {
    const read: unknown = JSON.parse(toJson({ id: "sub_1" }, [{ id: 1 }], "</script>"));
    expect(read).toEqual({ submission: { id: "sub_1" }, events: [{ id: 1 }], solution_code: "</script>" });
  });
});
