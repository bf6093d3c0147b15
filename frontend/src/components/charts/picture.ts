/** Save a chart as a picture: its canvas with the summary above and the legend below, on the background of the page. */
import { resolveColors } from "./chartColors";
import type { ChartSpec } from "./chartSpec";
import { downloadBlob } from "../../lib/download";

const MARGIN = 16;
const LINE = 20;

export async function savePicture(body: HTMLElement | null, spec: ChartSpec, hidden: ReadonlySet<string>): Promise<void> {
  const source = body?.querySelector("canvas");
  if (!body || !source) return;
  const blob = await new Promise<Blob | null>((resolve) => composed(body, source, spec, hidden).toBlob(resolve, "image/png"));
  if (blob !== null) downloadBlob(`${spec.fileName}.png`, blob);
}

function composed(body: HTMLElement, source: HTMLCanvasElement, spec: ChartSpec, hidden: ReadonlySet<string>): HTMLCanvasElement {
  const scale = source.width / source.clientWidth;
  const family = getComputedStyle(body).fontFamily;
  const shown = spec.series.filter(({ name }) => !hidden.has(name));
  const colors = resolveColors(body, { surface: "var(--surface)", text: "var(--text)" });
  const names = resolveColors(body, Object.fromEntries(shown.map(({ name, color }) => [name, color])));
  const canvas = document.createElement("canvas");
  const ctx = canvas.getContext("2d");
  if (ctx === null) return source;
  const title = wrapped(ctx, `13px ${family}`, spec.summary, source.clientWidth);
  canvas.width = source.width + 2 * MARGIN * scale;
  canvas.height = source.height + (2 * MARGIN + LINE * (title.length + 1)) * scale;
  ctx.fillStyle = colors.surface;
  ctx.fillRect(0, 0, canvas.width, canvas.height);
  ctx.drawImage(source, MARGIN * scale, (MARGIN + LINE * title.length) * scale);
  ctx.scale(scale, scale);
  ctx.font = `13px ${family}`;
  ctx.textBaseline = "middle";
  ctx.fillStyle = colors.text;
  title.forEach((line, index) => ctx.fillText(line, MARGIN, MARGIN + LINE * (index + 0.5)));
  let left = MARGIN;
  const bottom = canvas.height / scale - MARGIN - LINE / 2;
  for (const { name } of shown) {
    ctx.fillStyle = names[name] ?? colors.text;
    ctx.fillRect(left, bottom - 5, 12, 10);
    ctx.fillStyle = colors.text;
    ctx.fillText(name, left + 18, bottom);
    left += 34 + ctx.measureText(name).width;
  }
  return canvas;
}

/** Break a text into lines that fit. */
function wrapped(ctx: CanvasRenderingContext2D, font: string, text: string, width: number): string[] {
  ctx.font = font;
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (line !== "" && ctx.measureText(longer).width > width) {
      lines.push(line);
      line = word;
    } else line = longer;
  }
  return [...lines, line];
}
