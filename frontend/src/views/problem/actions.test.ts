import { describe, expect, it } from "vitest";
import { actionForKey } from "./actions";

describe("actionForKey", () => {
  const press = (keys: object): ReturnType<typeof actionForKey> =>
    actionForKey({ key: "Enter", ctrlKey: true, metaKey: false, shiftKey: false, altKey: false, ...keys });

  it("maps Ctrl+Enter to run, with Shift to benchmark, with Alt to submit", () => {
    expect([press({}), press({ shiftKey: true }), press({ altKey: true })]).toEqual(["checker", "benchmark", "submit"]);
    expect([press({ ctrlKey: false }), press({ key: "a" })]).toEqual([null, null]);
  });
});
