#!/usr/bin/env bash
# Needs curl, and a server with PRECIS_HTTP__ENABLED=true.
set -euo pipefail
address=${PRECIS_HTTP_URL:-http://127.0.0.1:8080}
post() { curl --silent --show-error --fail-with-body --no-buffer "$address$1" --header 'content-type: application/json' --data "$2"; echo; }

post /v1/judge '{"source": "Repairs cost 4.2 million dollars.", "summary": "Repairs cost 42 million dollars.", "view": "RESULT_VIEW_SCORES"}'
post /rerank '{"query": "What does it cost?", "texts": ["The bridge is red.", "Repairs cost 4.2 million dollars."]}'
post /v1/summarize '{"document": {"text": "The bridge will close for nine months. Repairs cost 4.2 million dollars."}}' # events, as they come
