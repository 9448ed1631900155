#!/bin/sh
# A worker in POSIX shell with curl. It executes shell jobs, one at a time, and stops after SIGTERM or drain.
#
#     FOLIOT_SERVER    the address of the server
#     FOLIOT_TOKEN     a token with the role worker; not needed in development mode
#     sh worker.sh
#
# A token, because openssl takes the key of a signature as an argument, which others on the machine can read.
# See docs/reference/worker-protocol.md.

set -u
server=${FOLIOT_SERVER:-http://127.0.0.1:7070}
token=${FOLIOT_TOKEN:-}
lease=${FOLIOT_LEASE:-60}
unset FOLIOT_TOKEN
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
stopping=
trap 'stopping=1' TERM INT

# post NAME MESSAGE: prints the status; the answer is in $work/answer. 000: the server could not be reached.
post() {
    {
        printf 'header = "Content-Type: application/json"\nheader = "X-Foliot-Protocol: 1"\n'
        [ -z "$token" ] || printf 'header = "Authorization: Bearer %s"\n' "$token"
    } >"$work/config.$1"
    printf '%s' "$2" >"$work/body.$1"
    : >"$work/answer.$1"
    curl -sS -m 40 -K "$work/config.$1" --data-binary "@$work/body.$1" -o "$work/answer.$1" -w '%{http_code}' \
        "$server/api/workers/$1" 2>/dev/null
}

# post_again NAME MESSAGE: tries again for the time of a lease while the server cannot be reached or is busy.
post_again() {
    until=$(($(date +%s) + ${lease%.*}))
    while :; do
        status=$(post "$1" "$2")
        case $status in 000 | 429 | 5*) [ "$(date +%s)" -lt "$until" ] && sleep 1 && continue ;; esac
        printf '%s' "$status"
        return
    done
}

# field NAME FILE: prints a field of an answer that is a plain text or a number. There are no spaces between its parts.
field() { sed -n "s/.*\"$1\":\"\{0,1\}\([^\",}]*\).*/\1/p" "$2" | sed 's/^null$//'; }

# job_command FILE: prints the command of a definition, which may contain any character. Fails if the definition has
# anything else, such as variables or a directory, or if the run has options of its own.
job_command() {
    awk '{
        if (!match($0, /"spec":\{"command":"([^"\\]|\\.)*"\}/) || $0 !~ /"overrides":null/) exit 1
        rest = substr($0, RSTART + 19, RLENGTH - 21)
        while (match(rest, /\\./)) {
            letter = substr(rest, RSTART + 1, 1)
            text = text substr(rest, 1, RSTART - 1) (letter == "n" ? "\n" : letter == "t" ? "\t" : letter)
            rest = substr(rest, RSTART + 2)
        }
        print text rest
    }' "$1"
}

# with_lease FIELDS: prints a message about the current run.
with_lease() { printf '{"worker":"%s","run_id":"%s","token":"%s",%s}' "$worker" "$run_id" "$run_token" "$1"; }

# send_output: sends what the job has printed since the last call, in pieces that a request has room for.
send_output() {
    while :; do
        tail -c "+$((sent + 1))" "$work/output" | head -c 500000 >"$work/piece"
        size=$(wc -c <"$work/piece")
        [ "$size" -gt 0 ] || return 0
        data=$(base64 <"$work/piece" | tr -d '\n')
        case $(post_again log "$(with_lease "\"pieces\":[{\"seq\":$seq,\"data\":\"$data\"}]")") in
        200) ;;
        *) return 0 ;;
        esac
        sent=$((sent + size)) seq=$((seq + 1))
    done
}

execute() {
    cp "$work/answer.lease" "$work/run"
    run_id=$(field run_id "$work/run") run_token=$(field token "$work/run")
    # Without a JSON parser, it executes only what it recognises for certain.
    if [ "$(field kind "$work/run")" != shell ] || ! job_command "$work/run" >"$work/command"; then
        failure='"status":"failed","reason":"handler_missing","error":"this worker cannot execute it"'
        post_again finish "$(with_lease "$failure")" >/dev/null
        return 0
    fi
    timeout=$(field timeout "$work/run")
    seconds=$(((${timeout:-0} + 999) / 1000))
    FOLIOT_RUN_ID=$run_id FOLIOT_PAYLOAD=$(field payload "$work/run" | base64 -d) \
        setsid sh "$work/command" >"$work/output" 2>&1 </dev/null &
    job=$! sent=0 seq=0 outcome='' started=$(date +%s) renewed=$(date +%s)
    while kill -0 "$job" 2>/dev/null; do
        sleep 0.5
        send_output
        now=$(date +%s)
        if [ -n "$stopping" ]; then
            outcome=interrupted
        elif [ "$seconds" -gt 0 ] && [ $((now - started)) -ge "$seconds" ]; then
            outcome=timeout
        else
            case $(post heartbeat "$(with_lease "\"lease\":$lease")") in
            200) renewed=$now ;;
            410) outcome=cancelled ;;
            409 | 403) outcome=lost ;;
            *) [ $((now - renewed)) -lt $((${lease%.*} * 2 / 3)) ] || outcome=lost ;;
            esac
        fi
        [ -z "$outcome" ] || kill -KILL "-$job" 2>/dev/null
    done
    wait "$job"
    code=$?
    [ "$outcome" != lost ] || return 0
    send_output
    [ -n "$outcome" ] || { [ "$code" -eq 0 ] && outcome=success || outcome=failed; }
    post_again finish "$(with_lease "\"status\":\"$outcome\",\"exit_code\":$code")" >/dev/null
}

worker=
while [ -z "$stopping" ]; do
    if [ -z "$worker" ]; then
        case $(post register "{\"name\": \"worker.sh\", \"kinds\": [\"shell\"], \"lease\": $lease}") in
        201) worker=$(field worker "$work/answer.register") ;;
        401 | 403 | 426) echo "refused: $(field message "$work/answer.register")" >&2 && exit 1 ;;
        *) sleep 1 ;;
        esac
        continue
    fi
    post heartbeat "{\"worker\": \"$worker\", \"held\": [], \"lease\": $lease}" >/dev/null
    if grep -q '"drain":true' "$work/answer.heartbeat"; then break; fi
    case $(post lease "{\"worker\": \"$worker\", \"limit\": 1, \"wait\": 2}") in
    200) execute ;;
    204) ;;
    409) worker= ;;
    *) sleep 1 ;;
    esac
done
[ -z "$worker" ] || post retire "{\"worker\": \"$worker\"}" >/dev/null
