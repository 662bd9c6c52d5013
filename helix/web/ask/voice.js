// Speech: a question spoken into the question box, an answer read aloud by the browser's own voice.
//
//   <${Microphone} onText=${(text) => …} />     a press begins, a press ends; nothing where the server
//                                               has no model for speech, or the browser cannot record
//   <${ReadAloud} text=${answer} />             nothing where the browser has no voice
import { call } from "../api.js";
import { IconButton, toast } from "../components.js";
import { html, useEffect, useRef, useState } from "../html.js";
import { useAbout } from "../shell/about.js";

const LONGEST = 600_000; // milliseconds, as POST /v1/transcribe has it
const MARKS = /\[\d+\]|[*_`#]|\]\([^)]*\)/g;

export function Microphone({ onText }) {
  const { voice } = useAbout();
  const [state, setState] = useState("idle"); // or recording, writing
  const recorder = useRef(null);
  useEffect(() => () => recorder.current?.stream.getTracks().forEach((track) => track.stop()), []);
  if (!voice || !navigator.mediaDevices?.getUserMedia || !window.MediaRecorder) return null;
  const begin = async () => {
    try {
      const stream = await navigator.mediaDevices.getUserMedia({ audio: true });
      const parts = [];
      recorder.current = new MediaRecorder(stream);
      recorder.current.ondataavailable = ({ data }) => parts.push(data);
      const timer = setTimeout(() => end(), LONGEST - 5000);
      recorder.current.onstop = () => {
        clearTimeout(timer);
        stream.getTracks().forEach((track) => track.stop());
        write(new Blob(parts));
      };
      recorder.current.start();
      setState("recording");
    } catch {
      toast("No access to the microphone: allow it for this page.");
    }
  };
  const end = () => recorder.current.state === "recording" && recorder.current.stop();
  const write = async (sound) => {
    setState("writing");
    const form = new FormData();
    form.append("audio", sound, "speech");
    try {
      const { text } = await call("POST /v1/transcribe", { form });
      if (text) onText(text);
      else toast("Nothing was heard.");
    } catch (error) {
      toast(error.message);
    }
    setState("idle");
  };
  const label = { idle: "Dictate your question", recording: "Stop and transcribe", writing: "Transcribing…" }[state];
  return html`<${IconButton} icon=${state === "recording" ? "stop" : "microphone"} label=${label} pressed=${state === "recording"}
    disabled=${state === "writing"} onClick=${state === "recording" ? end : begin} />`;
}

export function ReadAloud({ text }) {
  const [reading, setReading] = useState(false);
  useEffect(() => () => reading && speechSynthesis.cancel(), [reading]);
  if (!window.speechSynthesis) return null;
  const read = () => {
    const said = new SpeechSynthesisUtterance(text.replace(MARKS, ""));
    said.onend = said.onerror = () => setReading(false);
    speechSynthesis.cancel();
    speechSynthesis.speak(said);
    setReading(true);
  };
  return html`<${IconButton} icon=${reading ? "stop" : "speaker"} label=${reading ? "Stop reading" : "Read aloud"} pressed=${reading}
    onClick=${() => (reading ? setReading(false) : read())} />`;
}
