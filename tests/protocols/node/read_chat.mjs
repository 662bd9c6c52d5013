// What versions 5, 6 and 7 of the AI SDK make of POST /v1/ui/chat: the message that each ends with,
// and what it reports. One argument of JSON: { api, body, chatId, text, reconnects, leaves }; with
// `leaves` it asks, reads a word, leaves and reconnects.
import * as five from "ai5";
import * as six from "ai6";
import * as seven from "ai7";

const { api, body, chatId, text, reconnects, leaves } = JSON.parse(process.argv[2]);
const messages = [{ id: "question", role: "user", parts: [{ type: "text", text }] }];

async function askAndLeave(transport, sent) {
  const leaving = new AbortController();
  const asked = await transport.sendMessages({ ...sent, abortSignal: leaving.signal });
  const reader = asked.getReader();
  while ((await reader.read()).value.type !== "text-delta");
  leaving.abort();
  await reader.cancel().catch(() => {});
}

async function read(ai, version) {
  const transport = new ai.DefaultChatTransport({ api, body });
  const told = { errors: [], chunks: [], message: null };
  try {
    const id = `${chatId}-${version}`;
    const sent = { chatId: id, messages, trigger: "submit-message", abortSignal: undefined };
    if (leaves) await askAndLeave(transport, sent);
    const source = reconnects || leaves
      ? await transport.reconnectToStream({ chatId: id })
      : await transport.sendMessages(sent);
    if (source === null) return { ...told, nothing: true };
    const [chunks, stream] = source.tee();
    const onError = (error) => told.errors.push(error.message);
    for await (const state of ai.readUIMessageStream({ stream, onError })) told.message = state;
    for await (const chunk of chunks) told.chunks.push(chunk.type);
  } catch (error) {
    told.errors.push(error.message);
  }
  return told;
}

const told = {};
for (const [version, ai] of Object.entries({ 5: five, 6: six, 7: seven })) {
  told[version] = await read(ai, version);
}
console.log(JSON.stringify(told));
