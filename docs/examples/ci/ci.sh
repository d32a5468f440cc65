#!/bin/sh
# What every CI template of this example runs. APP is the address of the shop, started
# with -test-link; REPORTS is the folder for the reports.
set -eu
cd "$(dirname "$0")"
: "${APP:?the address of the shop}" "${REPORTS:=reports}"
mkdir -p "$REPORTS"
worst=0
# Is the page still as the map says? It signs in by the link for tests.
outrider check --open "$APP/enter?user=Ada" --maps sites/shop/actions.json --require signed_in \
  --report "html=$REPORTS/check.html,junit=$REPORTS/check.xml,json=$REPORTS/check.json" || worst=$?
# Does what people do there still work? A red check does not hide the answer, and the worse of both is the result.
outrider run plans/shop.yaml --open "$APP/" --upload-dir data \
  --report "html=$REPORTS/shop.html,junit=$REPORTS/shop.xml,json=$REPORTS/shop.json" || { code=$?; [ "$code" -le "$worst" ] || worst=$code; }
exit "$worst"
