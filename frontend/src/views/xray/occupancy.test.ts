import { describe, expect, it } from "vitest";
import { kib, nextStepText, resources, slots } from "./occupancy";

const occupancy = { waves_per_simd: 6, waves_per_cu: 24, blocks_per_cu: 6, limited_by: "vector registers" };

describe("slots", () => {
  it("uses as many slots of each SIMD as there are waves", () => {
    const filled = slots(occupancy).map((simd) => simd.filter((slot) => slot !== null).length);
    expect(filled).toEqual([6, 6, 6, 6]);
  });

  it("spreads a number of waves that is not a multiple of four", () => {
    const uneven = { ...occupancy, waves_per_cu: 7, blocks_per_cu: 7, waves_per_simd: 2 };
    expect(slots(uneven).map((simd) => simd.filter((slot) => slot !== null).length)).toEqual([2, 2, 2, 1]);
  });

  it("gives the block of each wave", () => {
    const result = slots(occupancy);
    expect(result.map((simd) => simd[0])).toEqual([0, 0, 0, 0]);
    expect(result.map((simd) => simd[5])).toEqual([5, 5, 5, 5]);
    expect(result[0]?.[6]).toBeNull();
  });
});

describe("resources", () => {
  it("rounds registers up to the allocation granularity and marks the limit", () => {
    const result = resources({ vgpr_total: 74, sgpr: 36, lds_bytes: 8256, occupancy }, "gfx942");
    expect(result[0]).toMatchObject({ used: 480, of: 512, limits: true });
    expect(result[2]).toMatchObject({ used: 49536, of: 65536, limits: false });
    expect(resources({ vgpr_total: 74, sgpr: 36, lds_bytes: 0, occupancy }, "gfx950")[2]?.of).toBe(163840);
  });
});

describe("text", () => {
  it("formats sizes from 1 KiB on in KiB", () => {
    expect([kib(0), kib(512), kib(8256), kib(65536)]).toEqual(["0", "512 B", "8.1 KiB", "64 KiB"]);
  });

  it("describes the change that raises the occupancy", () => {
    const step = { resource: "vector registers", change: 2, reach: 72, waves_per_simd: 7 };
    expect(nextStepText(step, 6)).toBe("2 fewer vector registers (72 per thread): 6 → 7 waves per SIMD");
    expect(nextStepText({ resource: "LDS", change: 1024, reach: 8192, waves_per_simd: 8 }, 7)).toContain(
      "1 KiB less LDS",
    );
    expect(nextStepText({ resource: "block size", change: -64, reach: 256, waves_per_simd: 8 }, 7)).toContain(
      "smaller block (256 threads)",
    );
  });
});
