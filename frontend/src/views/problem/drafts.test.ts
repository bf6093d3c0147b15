import { describe, expect, it } from "vitest";
import { chooseDraft, parseDraft } from "./drafts";

describe("drafts", () => {
  it("opens this tab's draft, else the shared one, else the starter code", () => {
    const own = { code: "mine", savedMs: 2 };
    const shared = { code: "shared", savedMs: 1 };
    expect(chooseDraft(own, shared, "starter").code).toBe("mine");
    expect(chooseDraft(null, shared, "starter").code).toBe("shared");
    expect(chooseDraft(null, null, "starter").code).toBe("starter");
  });

  it("offers the draft of another tab only if it is newer and different", () => {
    const own = { code: "mine", savedMs: 2 };
    expect(chooseDraft(own, { code: "theirs", savedMs: 3 }, "").other).toBe("theirs");
    expect(chooseDraft(own, { code: "theirs", savedMs: 1 }, "").other).toBeNull();
    expect(chooseDraft(own, { code: "mine", savedMs: 3 }, "").other).toBeNull();
  });

  it("ignores text that is not a draft", () => {
    expect(["{", "null", "3", '{"code":1,"savedMs":2}', null].map(parseDraft)).toEqual([null, null, null, null, null]);
    expect(parseDraft('{"code":"</script>","savedMs":2}')).toEqual({ code: "</script>", savedMs: 2 });
  });
});
