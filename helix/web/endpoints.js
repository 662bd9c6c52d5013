// What the page sends to the server, and what it reads of the answers: every endpoint with its
// parameters, and fields as "documents[].id". api.js refuses to send what is not here, and
// tests/serving/test_web.py holds all of it against the server's OpenAPI document and its real answers.
// Below stands JSON.
export const ENDPOINTS = {
  "GET /v1/documents": {
    "query": [
      "q", "status", "sort", "order", "limit", "after", "tag", "kind", "format", "since", "until"
    ],
    "reads": [
      "total", "next", "documents[].id", "documents[].title", "documents[].source_uri",
      "documents[].status", "documents[].error", "documents[].media", "documents[].size",
      "documents[].chunks", "documents[].pages", "documents[].warnings", "documents[].tags",
      "documents[].file", "documents[].updated_at", "documents[].file_name", "documents[].facts"
    ]
  },
  "POST /v1/documents": {
    "query": ["partial"], "body": ["file", "title", "tags"],
    "reads": ["run_id", "documents[].duplicate", "refused[].name", "refused[].reason"]
  },
  "POST /v1/documents/samples": { "reads": ["run_id", "documents[].duplicate"] },
  "POST /v1/documents/url": { "body": ["url", "tags"], "reads": ["run_id"] },
  "POST /v1/documents/crawl": {
    "body": ["url", "pages", "prefix", "files", "tags"], "reads": ["run_id"]
  },
  "POST /v1/documents/batch": {
    "body": ["action", "ids", "add", "remove", "titles"],
    "reads": ["done", "failed", "runs", "documents[].id", "documents[].error"]
  },
  "GET /v1/library": {
    "reads": [
      "total", "statuses", "labels[].name", "labels[].count", "kinds[].name", "kinds[].count",
      "formats[].name", "formats[].count", "web_imports", "max_file_mb"
    ]
  },
  "GET /v1/library/ids": {
    "query": ["q", "status", "tag", "kind", "format", "since", "until"], "reads": ["ids"]
  },
  "GET /v1/library/events": { "reads": ["library.version", "library.runs"] },
  "GET /v1/documents/{document_id}": {
    "query": ["text"],
    "reads": [
      "id", "title", "file_name", "facts", "source_uri", "media", "file", "text",
      "outline[].start", "outline[].end", "outline[].page",
      "outline[].heading_path", "outline[].label", "chunks[].id", "chunks[].start", "chunks[].end", "chunks[].page",
      "chunks[].heading_path"
    ]
  },
  "PATCH /v1/documents/{document_id}": { "body": ["tags", "title", "file_name", "facts"], "reads": ["tags"] },
  "DELETE /v1/documents/{document_id}": {},
  "GET /v1/documents/{document_id}/file": { "query": ["inline"] },
  "GET /v1/documents/{document_id}/pages": {
    "reads": [
      "pages[].number", "pages[].label", "pages[].width", "pages[].height", "pages[].start",
      "pages[].end"
    ]
  },
  "GET /v1/documents/{document_id}/pages/{number}.png": { "query": ["scale"] },
  "GET /v1/documents/{document_id}/boxes": {
    "query": ["start", "end"],
    "reads": ["boxes[].page", "boxes[].left", "boxes[].top", "boxes[].right", "boxes[].bottom"]
  },
  "GET /v1/documents/{document_id}/tables": {
    "reads": [
      "tables[].start", "tables[].end", "tables[].page", "tables[].caption", "tables[].units",
      "tables[].rows", "tables[].columns", "tables[].cells"
    ]
  },
  "POST /v1/documents/{document_id}/reingest": { "reads": ["run_id"] },
  "GET /v1/chunks/{chunk_id}": {
    "reads": ["id", "document_id", "title", "content", "start", "end", "page", "heading_path", "label"]
  },
  "GET /v1/runs/{run_id}/events": {
    "reads": [
      "run.kind", "run.status", "run.stage", "run.error", "run.url", "run.ignored", "file.n", "file.source_uri",
      "file.title", "file.document_id", "file.status", "file.stage", "file.done", "file.total",
      "file.reason", "file.warnings"
    ]
  },
  "POST /v1/runs/{run_id}/cancel": {},
  "POST /v1/query": {
    "body": [
      "question", "tenant_id", "document_ids", "filters", "filters.tags", "stream", "debug",
      "verdict"
    ],
    "reads": [
      "token.t", "done.answer_id", "done.abstained", "done.reason", "done.clarifying_question",
      "citations[].n", "citations[].title", "citations[].document_id",
      "citations[].chunk_id", "citations[].quote", "citations[].start",
      "citations[].end", "citations[].snippet", "citations[].heading_path",
      "citations[].page", "citations[].label", "done.reason_text", "done.closest", "done.suggested_scope",
      "done.support.ratio", "done.support.statements[].start",
      "done.support.statements[].end", "done.support.statements[].supported",
      "done.support.statements[].spans[].n", "done.support.statements[].spans[].start",
      "done.support.statements[].spans[].end", "done.support.statements[].spans[].quote",
      "done.support.statements[].spans[].chunk_id", "done.support.statements[].spans[].document_id",
      "done.support.statements[].spans[].page", "done.support.statements[].spans[].label",
      "done.support.statements[].problem", "done.support.statements[].relevant",
      "done.support.statements[].reason", "done.debug.gate.ceiling", "done.debug.gate.best",
      "done.debug.gate.by_name", "done.debug.candidates.near[].distance",
      "done.debug.candidates.fused[].chunk_id", "done.debug.candidates.fused[].rank",
      "done.debug.candidates.lexical", "done.debug.sources[].chunk_ids", "done.debug.seconds",
      "verdict.grounded", "verdict.citations_correct", "verdict.relevant",
      "verdict.unsupported_claims"
    ]
  },
  "POST /ask-image": { "body": ["image", "q"], "reads": ["text"] },
  "GET /v1/answers/{answer_id}": {
    "reads": [
      "question", "answer", "citations", "abstained", "reason", "clarifying_question",
      "answer_id", "support", "verdict", "debug.candidates.near", "created_at", "feedback",
      "scope.document_ids", "scope.tags"
    ]
  },
  "GET /v1/answers/{answer_id}/verify": { "reads": ["status"] },
  "POST /v1/answers/{answer_id}/feedback": { "body": ["rating", "note"] },
  "GET /v1/suggestions": {
    "query": ["document_id", "tag"],
    "reads": ["questions[].question"]
  },
  "GET /v1/about": { "reads": ["tenant", "auth", "version", "images"] },
  "GET /v1/privacy": {
    "reads": [
      "since", "outside", "contacts[].host", "contacts[].port", "contacts[].where",
      "contacts[].process", "contacts[].kind", "contacts[].count", "contacts[].last_at",
      "contacts_not_named", "open_now", "counted_by", "database.kind", "database.host",
      "database.where", "models", "receipt_days", "stored.documents", "stored.text_bytes",
      "stored.chunks", "stored.files", "stored.file_bytes", "stored.answers"
    ]
  },
  "GET /v1/evals/last": {
    "reads": [
      "packaged", "created_at", "suite", "judges", "ceiling", "settings", "minima", "failed",
      "totals[].name", "totals[].value", "totals[].low", "totals[].high", "totals[].n",
      "cases[].id", "cases[].tags", "cases[].question", "cases[].refusal", "cases[].refused",
      "cases[].answer", "cases[].cited", "cases[].faults", "cases[].distance"
    ]
  }
};
