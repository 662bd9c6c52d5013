// Server-sent events read from a fetch: EventSource can send neither a body nor a key.
//
//   for await (const { event, data, id } of events(response.body)) …   // data: text, lines joined
//
// Comments (": ping") are left out, as is an event that was cut in its middle. Leaving the loop
// closes the connection. One that is silent is dead, and ends: the server pings every 15 s.
const SILENT = 40_000; // ms

export async function* events(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  const close = () => reader.cancel().catch(() => {});
  let rest = "";
  try {
    for (;;) {
      const silent = setTimeout(close, SILENT);
      const { done, value } = await reader.read();
      clearTimeout(silent);
      if (done) return;
      rest += value;
      // a carriage return at the end may be half of a line's end
      const held = rest.endsWith("\r") ? 1 : 0;
      const frames = rest.slice(0, rest.length - held).replace(/\r\n?/g, "\n").split("\n\n");
      rest = frames.pop() + (held ? "\r" : "");
      for (const frame of frames) {
        const read = parse(frame);
        if (read) yield read;
      }
    }
  } finally {
    close();
  }
}

function parse(frame) {
  const found = { event: "message", data: [], id: null };
  for (const line of frame.split("\n")) {
    const colon = line.indexOf(":");
    if (colon === 0) continue;
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (name === "data") found.data.push(value);
    else if (name === "event") found.event = value;
    else if (name === "id") found.id = value;
  }
  return found.data.length ? { ...found, data: found.data.join("\n") } : null;
}
