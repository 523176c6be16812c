#!/bin/sh
# Smoke test of the window: without a display the program says what to do instead; on a virtual display the window
# appears, is photographed and closes when asked.
#   tests/window.sh                         builds the program and tests it
#   AGOGIC=path/to/agogic tests/window.sh   tests that one
set -eu
case "${AGOGIC:-/}" in
    /*) ;;
    *) AGOGIC="$PWD/$AGOGIC" ;;
esac
cd "$(dirname "$0")/.."

say() { printf 'window: %s\n' "$*"; }
fail() {
    say "FAILED: $*" >&2
    exit 1
}

# What the last line of this script runs inside a virtual display.
if [ "${1:-}" = inside ]; then
    "$AGOGIC" &
    program=$!
    trap 'kill "$program" 2>/dev/null || true' EXIT
    window=""
    tries=0
    while [ -z "$window" ]; do
        kill -0 "$program" 2>/dev/null || fail "the program ended before its window appeared"
        tries=$((tries + 1))
        [ "$tries" -le 100 ] || fail "no window within 20 s"
        sleep 0.2
        window="$(xdotool search --onlyvisible --pid "$program" 2>/dev/null | head -n 1)"
    done
    say "the window appeared"
    sleep 2 # a few frames
    if command -v import >/dev/null 2>&1; then
        import -window root "$PICTURE" && say "picture: $PICTURE"
    fi
    xdotool key --window "$window" ctrl+q || true
    tries=0
    while kill -0 "$program" 2>/dev/null; do
        tries=$((tries + 1))
        if [ "$tries" -eq 15 ]; then
            xdotool windowclose "$window" || true
        fi
        [ "$tries" -le 50 ] || fail "the window does not close"
        sleep 0.2
    done
    # A window that its display closes need not end well, but it must not crash.
    code=0
    wait "$program" || code=$?
    [ "$code" -le 1 ] || fail "the program ended with code $code"
    trap - EXIT
    say "it closed with code $code"
    exit 0
fi

target="${CARGO_TARGET_DIR:-$(cargo metadata --format-version 1 --no-deps |
    sed 's/.*"target_directory":"\([^"]*\)".*/\1/')}"
if [ -z "${AGOGIC:-}" ]; then
    cargo build --quiet
    AGOGIC="$target/debug/agogic"
fi

code=0
message="$(env -u DISPLAY -u WAYLAND_DISPLAY -u WAYLAND_SOCKET "$AGOGIC" 2>&1 </dev/null)" || code=$?
[ "$code" -eq 1 ] || fail "without a display the exit code is $code instead of 1"
case "$message" in
    *panicked*) fail "without a display it panics: $message" ;;
    *"agogic align"*) say "without a display: exit code 1, and the message names 'agogic align'" ;;
    *) fail "without a display the message does not name 'agogic align': $message" ;;
esac

for tool in xvfb-run xdotool; do
    if ! command -v "$tool" >/dev/null 2>&1; then
        say "$tool is not installed: the rest is skipped"
        exit 0
    fi
done
export AGOGIC PICTURE="$target/window.png" LIBGL_ALWAYS_SOFTWARE=1
exec xvfb-run -a -s "-screen 0 1440x900x24" tests/window.sh inside
