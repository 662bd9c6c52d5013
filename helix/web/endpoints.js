// What the page sends to the server, and what it reads of the answers: every endpoint with its
// parameters, and fields as "documents[].id". api.js refuses to send what is not here, and
// tests/serving/web/test_web_requests.py holds all of it against the server's OpenAPI document and its real answers.
// Below stands JSON.
export const ENDPOINTS = {
  "GET /v1/documents": {
    "query": [
      "space", "q", "status", "sort", "order", "limit", "after", "tag", "kind", "format", "since", "until", "where"
    ],
    "reads": [
      "total", "next", "documents[].id", "documents[].title", "documents[].source_uri",
      "documents[].status", "documents[].error", "documents[].media", "documents[].size",
      "documents[].chunks", "documents[].pages", "documents[].warnings", "documents[].tags",
      "documents[].file", "documents[].updated_at", "documents[].file_name", "documents[].facts", "documents[].metadata"
    ]
  },
  "POST /v1/documents": {
    "query": ["space", "partial"], "body": ["file", "title", "tags"],
    "reads": ["run_id", "documents[].duplicate", "refused[].name", "refused[].reason"]
  },
  "POST /v1/documents/samples": { "query": ["space"], "reads": ["run_id", "documents[].duplicate"] },
  "POST /v1/documents/url": { "query": ["space"], "body": ["url", "tags"], "reads": ["run_id"] },
  "POST /v1/documents/crawl": {
    "body": ["url", "pages", "prefix", "files", "tags"], "reads": ["run_id"]
  },
  "POST /v1/documents/batch": {
    "body": ["action", "ids", "add", "remove", "titles"],
    "reads": ["done", "failed", "runs", "documents[].id", "documents[].error"]
  },
  "POST /v1/documents/metadata": { "body": ["ids", "metadata"], "reads": ["matched", "changed"] },
  "GET /v1/library": { "query": ["space"],
    "reads": [
      "total", "statuses", "labels[].name", "labels[].count", "kinds[].name", "kinds[].count",
      "formats[].name", "formats[].count", "metadata[].name", "metadata[].count", "metadata[].kinds", "web_imports", "max_file_mb"
    ]
  },
  "GET /v1/library/ids": {
    "query": ["space", "q", "status", "tag", "kind", "format", "since", "until", "where"], "reads": ["ids"]
  },
  "GET /v1/library/events": { "query": ["space"], "reads": ["library.version", "library.runs"] },
  "GET /v1/documents/{document_id}": {
    "query": ["text"],
    "reads": [
      "id", "title", "file_name", "facts", "metadata", "source_uri", "source", "media", "file", "text",
      "outline[].start", "outline[].end", "outline[].page",
      "outline[].heading_path", "outline[].label", "chunks[].id", "chunks[].start", "chunks[].end", "chunks[].page",
      "chunks[].heading_path"
    ]
  },
  "PATCH /v1/documents/{document_id}": { "body": ["tags", "title", "file_name", "facts", "metadata"], "reads": ["tags"] },
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
  "GET /v1/spaces": {
    "reads": [
      "spaces[].id", "spaces[].name", "spaces[].everyone", "spaces[].model", "spaces[].style", "spaces[].documents",
      "spaces[].edits"
    ]
  },
  "POST /v1/spaces": { "body": ["name"], "reads": ["id"] },
  "PATCH /v1/spaces/{space_id}": { "body": ["name", "everyone", "model", "style"], "reads": ["name"] },
  "DELETE /v1/spaces/{space_id}": {},
  "POST /v1/spaces/{space_id}/documents": {
    "body": ["add", "move", "remove"], "reads": ["done", "failed", "documents[].id", "documents[].error"]
  },
  "GET /v1/search": {
    "query": ["space", "q", "top_k", "tag", "kind", "since", "until"],
    "reads": [
      "near_enough", "results[].chunk_id", "results[].document_id", "results[].title", "results[].heading_path",
      "results[].page", "results[].label", "results[].snippet", "results[].marks", "results[].start", "results[].end"
    ]
  },
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
  "GET /v1/sources": {
    "reads": [
      "sources[].id", "sources[].name", "sources[].kind", "sources[].address", "sources[].state", "sources[].run_id",
      "sources[].documents", "sources[].waiting", "sources[].last_error", "sources[].last_run_at", "sources[].next_run_at",
      "kinds[].name", "kinds[].title", "kinds[].address", "kinds[].example", "kinds[].options[].name",
      "kinds[].options[].title", "kinds[].options[].secret", "kinds[].options[].kind"
    ]
  },
  "POST /v1/sources": {
    "body": ["name", "kind", "address", "options", "secrets", "include", "exclude", "tags", "every_seconds"]
  },
  "GET /v1/sources/{source_id}": {
    "reads": [
      "name", "address", "state", "run_id", "documents", "waiting", "last_error", "last_run_at", "next_run_at", "counts",
      "preview.new", "preview.changed", "preview.moved", "preview.removed", "preview.waiting", "preview.counts",
      "preview.error", "gone[].key", "gone[].document_id", "unread[].key", "unread[].reason"
    ]
  },
  "PATCH /v1/sources/{source_id}": { "body": ["paused"] },
  "DELETE /v1/sources/{source_id}": { "query": ["keep_documents"] },
  "POST /v1/sources/{source_id}/sync": { "body": ["dry_run", "yes"] },
  "GET /v1/conversations": {
    "query": ["space", "q", "limit", "after"],
    "reads": [
      "total", "next", "conversations[].id", "conversations[].title", "conversations[].updated_at",
      "conversations[].answering"
    ]
  },
  "POST /v1/conversations": { "query": ["space"], "body": ["id", "document_ids", "filters", "filters.tags", "model"], "reads": ["id"] },
  "GET /v1/conversations/{conversation_id}": {
    "query": ["limit", "before"],
    "reads": [
      "title", "scope", "model", "answering", "earlier", "path[].model", "path[].id", "path[].parent_id", "path[].siblings",
      "path[].status", "path[].error", "path[].question", "path[].scope", "path[].answer_id",
      "path[].created_at", "path[].stale", "path[].attachments", "path[].response.answer", "path[].response.citations",
      "path[].response.turn.memory", "path[].response.turn.understood_as"
    ]
  },
  "PATCH /v1/conversations/{conversation_id}": {
    "body": ["title", "active", "document_ids", "filters", "filters.tags", "model"], "reads": ["id", "title"]
  },
  "DELETE /v1/conversations/{conversation_id}": {},
  "GET /v1/conversations/{conversation_id}/export": { "query": ["format", "message"] },
  "POST /v1/conversations/{conversation_id}/messages": {
    "body": [
      "question", "document_ids", "filters", "filters.tags", "images", "stream", "debug", "verdict", "wait", "mode",
      "time_zone"
    ],
    "reads": [
      "message.message_id", "message.parent_id", "message.answer_id", "message.conversation_id",
      "thinking.t", "tool.call", "tool.name", "tool.arguments", "tool.passages", "tool.milliseconds", "tool.failure",
      "source.call", "source.chunk_id", "source.document_id", "source.title", "source.page", "source.label",
      "source.heading_path", "memory.used", "memory.budget", "memory.turns", "memory.turns_in_full", "memory.summarised",
      "done.turn.type", "done.turn.understood_as", "done.turn.from_history",
      "done.model.title", "done.model.asked", "done.model.routed", "done.model.input_tokens", "done.model.output_tokens",
      "done.model.cost_usd",
      "token.t", "done.answer_id", "done.trace_id", "done.abstained", "done.reason", "done.clarifying_question",
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
      "done.debug.gate.by_name", "done.debug.gate.by_evidence", "done.debug.candidates.near[].distance",
      "done.debug.candidates.fused[].chunk_id", "done.debug.candidates.fused[].rank",
      "done.debug.candidates.lexical", "done.debug.sources[].chunk_ids", "done.debug.seconds",
      "verdict.grounded", "verdict.citations_correct", "verdict.relevant",
      "verdict.unsupported_claims"
    ]
  },
  "POST /v1/conversations/{conversation_id}/messages/{message_id}/edit": {
    "body": ["question", "stream", "debug", "verdict", "wait", "mode", "time_zone"],
    "reads": ["message.message_id", "done.answer_id"]
  },
  "POST /v1/conversations/{conversation_id}/messages/{message_id}/regenerate": {
    "body": ["stream", "debug", "verdict", "wait", "mode", "time_zone"],
    "reads": ["message.message_id", "done.answer_id"]
  },
  "GET /v1/conversations/{conversation_id}/messages/{message_id}/events": {
    "reads": ["message.message_id", "done.answer_id"]
  },
  "POST /v1/conversations/{conversation_id}/messages/{message_id}/stop": {},
  "GET /v1/conversations/{conversation_id}/attachments": {
    "reads": ["documents[].id", "documents[].title", "documents[].status", "documents[].error"]
  },
  "POST /v1/conversations/{conversation_id}/attachments": { "body": ["file"], "reads": ["run_id"] },
  "GET /v1/conversations/{conversation_id}/attachments/{document_id}": {
    "reads": ["id", "title", "text"]
  },
  "DELETE /v1/conversations/{conversation_id}/attachments/{document_id}": {},
  "GET /v1/conversations/{conversation_id}/attachments/{document_id}/pages": { "reads": ["pages"] },
  "GET /v1/conversations/{conversation_id}/attachments/{document_id}/pages/{number}.png": { "query": ["scale"] },
  "GET /v1/conversations/{conversation_id}/attachments/{document_id}/tables": { "reads": ["tables"] },
  "GET /v1/conversations/{conversation_id}/attachments/{document_id}/boxes": {
    "query": ["start", "end"], "reads": ["boxes"]
  },
  "POST /v1/conversations/{conversation_id}/attachments/{document_id}/library": { "reads": ["run_id"] },
  "POST /v1/conversations/{conversation_id}/images": { "body": ["image"], "reads": ["id", "name"] },
  "GET /v1/conversations/{conversation_id}/images/{image_id}": {},
  "GET /v1/study": {
    "query": ["space", "limit"],
    "reads": [
      "sets[].id", "sets[].kind", "sets[].title", "sets[].status", "sets[].made", "sets[].wanted",
      "sets[].stale", "sets[].created_at"
    ]
  },
  "POST /v1/study": { "query": ["space"],
    "body": ["kind", "document_ids", "filters", "filters.tags", "count", "difficulty"], "reads": ["id"]
  },
  "GET /v1/study/{set_id}": {
    "reads": [
      "id", "run_id", "kind", "title", "status", "error", "made", "wanted", "stale", "dropped", "created_at",
      "items[].id", "items[].kind", "items[].body", "items[].stale", "items[].sources"
    ]
  },
  "PATCH /v1/study/{set_id}": { "body": ["title"] },
  "DELETE /v1/study/{set_id}": {},
  "GET /v1/study/{set_id}/export": { "query": ["format"] },
  "POST /v1/study/{set_id}/drawn": {},
  "PATCH /v1/study/{set_id}/positions": { "body": ["positions", "folded"] },
  "POST /v1/study/{set_id}/lessons/{item_id}": { "reads": ["body", "sources"] },
  "POST /v1/study/{set_id}/lessons/{item_id}/done": {},
  "GET /v1/study/{set_id}/attempts": {
    "reads": ["attempts[].id", "attempts[].answers", "attempts[].finished_at", "attempts[].right", "attempts[].of"]
  },
  "POST /v1/study/{set_id}/attempts": { "reads": ["id", "answers"] },
  "POST /v1/study/attempts/{attempt_id}/answers": {
    "body": ["item_id", "answer"], "reads": ["right", "key", "explanation", "sources"]
  },
  "POST /v1/study/attempts/{attempt_id}/finish": {
    "reads": [
      "right", "of", "review[].item_id", "review[].right", "review[].key", "review[].explanation",
      "review[].sources"
    ]
  },
  "GET /v1/study/due": {
    "reads": ["due", "new", "cards[].id", "cards[].body", "cards[].sources", "cards[].intervals"]
  },
  "POST /v1/study/cards/{item_id}/review": { "body": ["rating"] },
  "POST /v1/study/cards/undo": {},
  "POST /v1/study/import": { "body": ["file"] },
  "GET /v1/progress": {
    "query": ["time_zone"],
    "reads": [
      "on", "totals.sessions", "totals.minutes", "totals.days_active", "totals.actions", "streak.current",
      "streak.longest", "days[].date", "days[].minutes", "days[].level", "badges[].code", "badges[].title",
      "badges[].icon", "badges[].text", "badges[].target", "badges[].value", "badges[].earned"
    ]
  },
  "GET /v1/progress/days/{day}": {
    "query": ["time_zone"],
    "reads": [
      "sessions[].from", "sessions[].to", "sessions[].minutes", "actions", "badges[].code", "badges[].title",
      "badges[].icon"
    ]
  },
  "PATCH /v1/progress": { "body": ["on"] },
  "DELETE /v1/progress": {},
  "GET /v1/prompts": {
    "reads": ["prompts[].name", "prompts[].title", "prompts[].use", "prompts[].version", "prompts[].broken"]
  },
  "GET /v1/prompts/{name}": {
    "reads": [
      "title", "use", "placeholders", "version", "last_version", "broken", "before", "text", "after", "diff",
      "versions[].version", "versions[].text", "versions[].author", "versions[].created_at"
    ]
  },
  "POST /v1/prompts/{name}": { "body": ["text", "last_version"], "reads": ["text", "version"] },
  "DELETE /v1/prompts/{name}": { "reads": ["text", "version"] },
  "POST /v1/prompts/{name}/rollback": { "body": ["version"], "reads": ["text", "version"] },
  "POST /v1/prompts/{name}/preview": { "body": ["text", "question"], "reads": ["answer.answer"] },
  "GET /v1/answers/{answer_id}": {
    "reads": [
      "question", "answer", "citations", "abstained", "reason", "clarifying_question",
      "answer_id", "support", "verdict", "created_at", "feedback", "removed",
      "scope.document_ids", "scope.tags"
    ]
  },
  "GET /v1/answers/{answer_id}/verify": { "reads": ["status"] },
  "GET /v1/answers/{answer_id}/proof": {},
  "POST /v1/answers/{answer_id}/feedback": { "body": ["rating", "note"] },
  "GET /v1/suggestions": {
    "query": ["space", "document_id", "tag"],
    "reads": ["questions[].question"]
  },
  "POST /v1/transcribe": { "body": ["audio"], "reads": ["text"] },
  "GET /v1/usage": {
    "query": ["from", "to", "by", "format"],
    "reads": [
      "rows[].person", "rows[].email", "rows[].key_id", "rows[].key", "rows[].space", "rows[].space_id", "rows[].model", "rows[].day",
      "totals.questions", "totals.refusals", "totals.votes_up", "totals.calls", "totals.unpriced", "totals.cost_usd",
      "totals.input_tokens", "totals.thought_tokens", "by", "everybody", "days_kept"
    ]
  },
  "GET /v1/usage/limits": {
    "reads": [
      "own[].of", "own[].measure", "own[].period", "own[].most", "own[].used", "own[].ends_at", "all[].person_id", "all[].key_id",
      "holders[].person_id", "holders[].key_id", "holders[].person", "holders[].email", "holders[].key"
    ]
  },
  "PUT /v1/usage/limits": {
    "body": [
      "person_id", "key_id", "questions_day", "questions_month", "tokens_day", "tokens_month", "cost_usd_day", "cost_usd_month"
    ]
  },
  "GET /v1/about": { "query": ["space"], "reads": ["tenant", "auth", "version", "images", "mode", "voice", "study", "model", "models[].name", "models[].title", "models[].identity", "models[].quotes_only", "models[].images"] },
  "GET /v1/local-servers": { "reads": ["servers[].title", "servers[].models"] },
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
