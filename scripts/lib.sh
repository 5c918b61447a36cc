# Sourced by the other scripts: where things are, and one way to run a step and to say why it failed.

cd "$(dirname "${BASH_SOURCE[0]}")/.."
venv=.venv
logs=$venv/logs

# fail STEP REASON REMEDY: ends the script.
fail() {
    printf '\nStep failed: %s\n  Why:  %s\n  Then: %s\n' "$1" "$2" "$3" >&2
    exit 1
}

# step NAME REMEDY COMMAND...: runs a long command quietly into a log and shows how long it takes.
step() {
    local name=$1 remedy=$2 log started=$SECONDS pid
    shift 2
    mkdir -p "$logs"
    log=$logs/${name//[^A-Za-z0-9]/-}.log
    printf '==> %s\n' "$name"
    "$@" >"$log" 2>&1 &
    pid=$!
    trap 'kill "$pid" 2>/dev/null' INT TERM
    while [ -t 1 ] && kill -0 "$pid" 2>/dev/null; do
        printf '    %s s\r' $((SECONDS - started))
        sleep 1
    done
    if ! wait "$pid"; then
        fail "$name" "$(grep -v '^[[:space:]]*$' "$log" | tail -n 8) (all of it: $log)" "$remedy"
    fi
    trap - INT TERM
    printf '    done in %s s\n' $((SECONDS - started))
}
