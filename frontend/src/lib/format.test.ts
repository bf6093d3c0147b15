import { describe, expect, it } from "vitest";
import { cell, dollars, runtime, significant, span, wholeCents } from "./format";

describe("number formats", () => {
  it("chooses the unit of a runtime by its size", () => {
    expect([0.00085, 0.0123, 4.5678, 1200].map(runtime)).toEqual(["850 ns", "12.3 µs", "4.57 ms", "1.20 s"]);
  });

  it("shows fractions of a cent and rounds larger amounts to the cent", () => {
    expect([0, 0.00012, 0.000504, 0.005, 0.01, 0.0125, 0.24, 1394.754].map(dollars)).toEqual([
      ...["$0.00", "$0.00012", "$0.0005", "$0.005", "$0.01", "$0.0125", "$0.24", "$1,394.75"],
    ]);
  });

  it("formats durations in seconds, minutes and hours", () => {
    expect([0.84, 42, 365, 12000].map(span)).toEqual(["0.8 s", "42 s", "6 min 05 s", "3 h 20 min"]);
  });

  it("shows output elements with six digits and no trailing zeros", () => {
    expect([0.9999998, -0.009276234, 1e-30, "nan"].map(cell)).toEqual(["1", "−0.00927623", "1e−30", "nan"]);
  });

  it("uses exponents only for very large and very small values", () => {
    expect([0, 12.345, 1234567, 0.00000123].map((value) => significant(value))).toEqual(["0", "12.3", "1.23e6", "1.23e−6"]);
  });

  it("rounds what is left of a budget down to cents", () => {
    expect([4.9971, 0.29, 0.009, 5, -1].map(wholeCents)).toEqual([4.99, 0.29, 0, 5, 0]);
  });
});
