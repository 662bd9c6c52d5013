// A mind map as a file: SVG as it is drawn, PNG and PDF of it. All are made in the browser.
//
//   await saveMap(svg, "png", name)      svg: the element; "svg", "png" or "pdf"
import { fileName, handOut } from "../file.js";

const SCALE = 2; // pixels of a point
const MOST = 8000; // pixels of a side, beyond which browsers draw nothing
const LOOK = "text{font:14px sans-serif;fill:#1f1e1b}rect{fill:#fff;stroke:#8a8578}path{fill:none;stroke:#8a8578}.count{font-size:11px}";

export async function saveMap(svg, kind, name) {
  const text = textOf(svg);
  if (kind === "svg") return handOut(new Blob([text], { type: "image/svg+xml" }), { download: fileName(name, kind) });
  const canvas = await paintedOf(text, svg.viewBox.baseVal);
  const image = await new Promise((resolve) => canvas.toBlob(resolve, kind === "png" ? "image/png" : "image/jpeg", 0.95));
  return handOut(kind === "png" ? image : await pdfOf(image, canvas), { download: fileName(name, kind) });
}

// The file has none of the page's style sheets, so it gets one of its own.
function textOf(svg) {
  const copy = svg.cloneNode(true);
  const { width, height } = svg.viewBox.baseVal;
  for (const [key, value] of Object.entries({ xmlns: "http://www.w3.org/2000/svg", width, height })) copy.setAttribute(key, value);
  const look = document.createElementNS("http://www.w3.org/2000/svg", "style");
  look.textContent = LOOK;
  copy.prepend(look);
  return new XMLSerializer().serializeToString(copy);
}

async function paintedOf(text, { width, height }) {
  const image = new Image();
  const url = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  try {
    image.src = url;
    await image.decode();
  } finally {
    URL.revokeObjectURL(url);
  }
  const scale = Math.min(SCALE, MOST / Math.max(width, height));
  const canvas = Object.assign(document.createElement("canvas"), { width: Math.round(width * scale), height: Math.round(height * scale) });
  const pen = canvas.getContext("2d");
  pen.fillStyle = "#fff";
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.drawImage(image, 0, 0, canvas.width, canvas.height);
  return canvas;
}

// One page with one image, by ISO 32000-1, 7.5: objects, then where each begins.
async function pdfOf(image, { width, height }) {
  const [wide, high] = [width / SCALE, height / SCALE];
  const drawing = `q ${wide} 0 0 ${high} 0 0 cm /I Do Q`;
  const objects = [
    ["<</Type/Catalog/Pages 2 0 R>>"],
    ["<</Type/Pages/Kids[3 0 R]/Count 1>>"],
    [`<</Type/Page/Parent 2 0 R/MediaBox[0 0 ${wide} ${high}]/Contents 4 0 R/Resources<</XObject<</I 5 0 R>>>>>>`],
    [`<</Length ${drawing.length}>>stream\n${drawing}\nendstream`],
    [`<</Type/XObject/Subtype/Image/Width ${width}/Height ${height}/ColorSpace/DeviceRGB/BitsPerComponent 8/Filter/DCTDecode/Length ${image.size}>>stream\n`, image, "\nendstream"],
  ];
  const parts = ["%PDF-1.4\n"];
  const places = objects.map((object, n) => {
    const place = new Blob(parts).size;
    parts.push(`${n + 1} 0 obj\n`, ...object, "\nendobj\n");
    return `${String(place).padStart(10, "0")} 00000 n \n`;
  });
  const table = new Blob(parts).size;
  parts.push(`xref\n0 6\n0000000000 65535 f \n${places.join("")}trailer<</Size 6/Root 1 0 R>>\nstartxref\n${table}\n%%EOF\n`);
  return new Blob(parts, { type: "application/pdf" });
}
