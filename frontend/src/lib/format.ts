/** Format numbers for display: with a unit, and no more digits than are meaningful. */

const MINUS = "−";

/** Format with significant digits; with an exponent only from a million on and below 0.0001. */
export function significant(value: number, digits = 3): string {
  if (!Number.isFinite(value)) return String(value);
  if (value === 0) return "0";
  const size = Math.floor(Math.log10(Math.abs(value)));
  if (size >= 6 || size < -4) return value.toExponential(digits - 1).replace("e+", "e").replace("-", MINUS);
  return value.toFixed(Math.max(0, digits - 1 - size));
}

/** Format milliseconds in the unit that fits: 850 ns, 12.3 µs, 4.56 ms, 1.20 s. */
export function runtime(ms: number | null | undefined): string {
  if (ms === null || ms === undefined || !Number.isFinite(ms)) return "–";
  if (ms < 1e-3) return `${significant(ms * 1e6)} ns`;
  if (ms < 1) return `${significant(ms * 1e3)} µs`;
  if (ms < 1e3) return `${significant(ms)} ms`;
  return `${significant(ms / 1e3)} s`;
}

/** Format a duration: 0.8 s, 42 s, 6 min 05 s, 3 h 20 min. */
export function span(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined || !Number.isFinite(seconds)) return "–";
  const s = Math.max(0, seconds);
  if (s < 9.95) return `${s.toFixed(1)} s`;
  if (s < 120) return `${Math.round(s)} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min ${String(Math.floor(s % 60)).padStart(2, "0")} s`;
  if (s < 48 * 3600) return `${Math.floor(s / 3600)} h ${String(Math.floor((s % 3600) / 60)).padStart(2, "0")} min`;
  return `${Math.round(s / 86400)} d`;
}

/** Format an estimated duration: 9 s, 7 min. */
export function roughly(seconds: number): string {
  if (seconds < 90) return `${Math.max(1, Math.round(seconds))} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  return `${significant(seconds / 3600, 2)} h`;
}

/** Format dollars: to the cent from ten cents on, with more digits below if there are any. */
export function dollars(usd: number | null | undefined): string {
  if (usd === null || usd === undefined || !Number.isFinite(usd)) return "–";
  const sign = usd < 0 ? MINUS : "";
  const size = Math.abs(usd);
  if (size === 0) return "$0.00";
  const isWholeCents = Number.isInteger(Math.round(size * 1e6) / 1e4);
  if (size >= 0.1 || isWholeCents) return `${sign}$${size.toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;
  if (size >= 0.001) return `${sign}$${size.toFixed(4).replace(/0$/, "")}`;
  // Below a tenth of a cent the order of magnitude matters, not the decimals.
  return `${sign}$${Number(size.toPrecision(2)).toFixed(6).replace(/0+$/, "")}`;
}

/** Round an amount down to cents: what is left of a budget must not look larger than it is. */
export function wholeCents(usd: number): number {
  return Math.max(0, Math.floor(100 * usd + 1e-6) / 100);
}

export function gflops(value: number | null | undefined): string {
  if (value === null || value === undefined) return "–";
  return value >= 1000 ? `${significant(value / 1000)} TFLOP/s` : `${significant(value)} GFLOP/s`;
}

export function gbps(value: number | null | undefined): string {
  if (value === null || value === undefined) return "–";
  return value >= 1000 ? `${significant(value / 1000)} TB/s` : `${significant(value)} GB/s`;
}

export function bytes(value: number): string {
  if (value < 1024) return `${value} B`;
  if (value < 1024 ** 2) return `${significant(value / 1024)} KiB`;
  if (value < 1024 ** 3) return `${significant(value / 1024 ** 2)} MiB`;
  return `${significant(value / 1024 ** 3)} GiB`;
}

/** Format a value that is already in percent. */
export function percent(value: number | null | undefined): string {
  return value === null || value === undefined ? "–" : `${value.toFixed(1)}%`;
}

export function count(value: number): string {
  return value.toLocaleString("en-US");
}

/** `1 case`, `2 cases`. */
export function plural(value: number, noun: string, nouns = `${noun}s`): string {
  return `${count(value)} ${value === 1 ? noun : nouns}`;
}

/** Format an element of a kernel's output; NaN and infinities arrive as text. */
export function cell(value: number | string): string {
  return typeof value === "number" ? String(Number(value.toPrecision(6))).replaceAll("-", MINUS) : value;
}

/** `2026-01-31 12:00:05`, in the browser's time zone. */
export function dateTime(iso: string | null): string {
  if (iso === null) return "–";
  const date = new Date(iso);
  const two = (n: number): string => String(n).padStart(2, "0");
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

/** `WRONG_ANSWER` as `Wrong answer`. */
export function statusText(status: string): string {
  return capitalized(status.replaceAll("_", " ").toLowerCase());
}

export function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
