#!/bin/sh
# try.sh ADDRESS TOKEN: asks a running daemon for what its description allows, and for what it does not, with the schemathesis that
# Scripts/prepare-openapi.sh installs. Then reads the first lines of its streams, which schemathesis would read for ever.
set -eu
cd "$(dirname "$0")/../.."
address=$1 token=$2
venv=.build/openapi/venv

# Simulated heat, sleep and want of memory would keep the other orders from being carried out.
"$venv/bin/schemathesis" --no-color run "${address}v1/openapi.json" --url "$address" \
    --header "Authorization: Bearer $token" --phases examples,coverage,fuzzing --max-examples 20 --seed 27 \
    --workers 2 --request-timeout 10 --max-failures 30 --continue-on-failure --no-shrink \
    --checks not_a_server_error,status_code_conformance,content_type_conformance,response_headers_conformance,response_schema_conformance,negative_data_rejection,unsupported_method,ignored_auth \
    --exclude-path-regex '/(events|day|attach|logs|tokens|revoke|neighbours|pairing|recording|replay)$' \
    --generation-database none
"$venv/bin/python" Tests/OpenAPI/streams.py "$address" "$token"
