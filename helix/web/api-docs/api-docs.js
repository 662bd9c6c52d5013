// The API, drawn by Swagger UI from this server's /openapi.json, for reading and trying it out.
// Nothing is fetched from elsewhere, and text becomes no markup: the page's policy allows neither.

// Swagger UI would make markup of Markdown; paragraphs and `code` are all that our texts have.
function Markdown({ source = "" }) {
  const { React } = this;
  const piecesOf = (text) => text.split(/`([^`]+)`/).map((piece, n) => (n % 2 ? React.createElement("code", { key: n }, piece) : piece));
  const paragraphs = source.trim().split(/\n\s*\n/);
  return React.createElement("div", { className: "renderedMarkdown" }, paragraphs.map((text, n) => React.createElement("p", { key: n }, piecesOf(text))));
}

function plainText({ React }) {
  return { components: { Markdown: Markdown.bind({ React }) } };
}

// The key that this browser has of the page goes with what is tried out, to this server alone.
function withKey(request) {
  const key = sessionStorage.getItem("helix.key") || localStorage.getItem("helix.key");
  const own = new URL(request.url, location.href).origin === location.origin;
  if (key && own) request.headers.Authorization = `Bearer ${key}`;
  return request;
}

// Swagger UI is dark by a class of the root; the page's other views by what theme.js sets, or the system.
const dark = matchMedia("(prefers-color-scheme: dark)");

function colour() {
  const { theme } = document.documentElement.dataset;
  document.documentElement.classList.toggle("dark-mode", theme ? theme === "dark" : dark.matches);
}

dark.addEventListener("change", colour);
colour();

window.SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#api",
  plugins: [plainText],
  validatorUrl: null, // else a badge is asked for at another host
  requestInterceptor: withKey,
  showMutatedRequest: false, // the key is not shown in the curl line
  deepLinking: false,
  docExpansion: "list",
  defaultModelsExpandDepth: -1,
  syntaxHighlight: { activate: false },
});
