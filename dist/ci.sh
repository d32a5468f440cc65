#!/bin/sh
# What action.yml runs, and what the templates for GitLab and Jenkins have in them word for word, as a test sees to:
# validates maps, checks pages and runs plans. Its inputs are variables, so that no value is read as a command. Those
# of MAPS, OPEN, PLAN, REQUIRE, SECRETS, CHECK_FLAGS and PLAN_FLAGS are lists, a line for each.
# The plan runs after a red check, too. Exit code: the highest of all; 2 when there is nothing to check and no plan.
# shellcheck disable=SC2046,SC2086 # lists are split at their lines, and nothing of them is read as a pattern
set -euf
newline=$(echo; echo .)
IFS=${newline%.}

# lines PREFIX LIST is each line of a list that is not blank, behind a prefix.
lines() { printf %s "$2" | sed "s/^[[:space:]]*//; s/[[:space:]]*$//; /^$/d; s/^/$1/"; }
stop() { echo "${GITHUB_ACTIONS:+::error title=outrider::}outrider: $1"; exit 2; }
worst=0
worse() { [ "$1" -le "$worst" ] || worst=$1; }
# reports NAME is what --report takes.
reports() {
  printf %s "junit=$REPORTS/$1.xml,json=$REPORTS/$1.json,html=$REPORTS/$1.html"
  printf %s "${GITHUB_ACTIONS:+,github=-}${GITHUB_STEP_SUMMARY:+,github=$GITHUB_STEP_SUMMARY}"
}

REPORTS=${REPORTS:-outrider-reports}
maps=$(lines --maps= "${MAPS:-}") open=$(lines --open= "${OPEN:-}") plans=$(lines "" "${PLAN:-}")
check=${CHECK:-auto} strict=
[ "$check" != auto ] || [ -z "$maps" ] || [ -z "$open" ] || check=true
case $check in
true) [ -n "$maps" ] && [ -n "$open" ] || stop "a check needs maps and open: one of them is empty" ;;
auto | false) [ -n "$plans" ] || stop "there is nothing to check and no plan to run: expected maps and open, or plan" ;;
*) stop "the input check is none of auto, true and false" ;;
esac
case ${STRICT:-false} in
true) strict=--strict-checks ;;
false) ;;
*) stop "the input strict is neither true nor false" ;;
esac

mkdir -p -- "$REPORTS"
[ -z "$maps" ] || outrider validate -- $(lines "" "$MAPS") || worse $?
if [ "$check" = true ]; then
  outrider check $open $maps $(lines --require= "${REQUIRE:-}") $(lines --secret= "${SECRETS:-}") $strict --report="$(reports check)" $(lines "" "${CHECK_FLAGS:-}") || worse $?
fi
if [ -n "$plans" ]; then
  outrider run $(lines --open= "${PLAN_OPEN:-}" | sed 1q) $maps $(lines --secret= "${SECRETS:-}") ${GREP:+"--grep=$GREP"} ${SHARD:+"--shard=$SHARD"} ${WORKERS:+"--workers=$WORKERS"} ${RETRIES:+"--retries=$RETRIES"} --report="$(reports plan)" --artifacts="$REPORTS" $(lines "" "${PLAN_FLAGS:-}") -- $plans || worse $?
fi
exit "$worst"
