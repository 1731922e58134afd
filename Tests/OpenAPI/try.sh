#!/bin/sh
# try.sh ADDRESS TOKEN HANDLER DEVICE: asks a running daemon for what its description allows, and for what it does not, with the
# schemathesis that Scripts/prepare-openapi.sh installs. Streams are left to answers.py: schemathesis would read them for ever.
set -eu
cd "$(dirname "$0")/../.."
address=$1 token=$2
venv=.build/openapi/venv

"$venv/bin/python" Tests/OpenAPI/answers.py "$@"
# A wrong token takes a second, so that one is not tried here; HostileTests send a thousand.
"$venv/bin/schemathesis" --no-color run "${address}v1/openapi.json" --url "$address" \
    --header "Authorization: Bearer $token" --phases coverage,fuzzing --max-examples 10 --seed 27 --no-shrink \
    --workers 4 --request-timeout 25 --continue-on-failure --generation-database none --warnings off \
    --checks not_a_server_error,status_code_conformance,content_type_conformance,response_headers_conformance,response_schema_conformance,negative_data_rejection,unsupported_method,allow_header_conformance \
    --exclude-path-regex '/(events|day|attach|logs|tokens|revoke|neighbours|pairing|answer|recording|replay)$'
