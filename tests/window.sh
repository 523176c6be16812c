#!/bin/sh
# Drives the real window as a user would, on a virtual display: files as arguments, keys, a drag, export, picture, session,
# files that moved, quit. Without a display the program must say what to do instead.
#   tests/window.sh [FOLDER]                         builds the program, tests it, leaves screenshots in FOLDER
#   AGOGIC=path/to/agogic tests/window.sh [FOLDER]   tests that one
set -eu
case "${AGOGIC:-/}" in
    /*) ;;
    *) AGOGIC="$PWD/$AGOGIC" ;;
esac

say() { printf 'window: %s\n' "$*"; }
fail() {
    say "FAILED: $*" >&2
    exit 1
}

# --- Inside the virtual display: this script calls itself there. ---

# Starts the program on the files given and waits for its window.
open_window() {
    "$AGOGIC" "$@" 2>"$WORK/log" &
    program=$!
    window=""
    tries=0
    while [ -z "$window" ]; do
        kill -0 "$program" 2>/dev/null || fail "the program ended before its window appeared: $(cat "$WORK/log")"
        tries=$((tries + 1))
        [ "$tries" -le 300 ] || fail "no window within 30 s"
        sleep 0.1
        # The display is ours alone: any window with a title is the program's.
        window="$(xdotool search --onlyvisible --name . 2>/dev/null | head -n 1)"
    done
    xdotool windowfocus "$window"
    wait_idle
}

cpu_ticks() { awk '{ print $14 + $15 }' "/proc/$program/stat"; }

# Waits until the program has nothing left to do: hardly any processor time in half a second.
wait_idle() {
    tries=0
    before="$(cpu_ticks)"
    while :; do
        sleep 0.5
        after="$(cpu_ticks)"
        [ $((after - before)) -gt 3 ] || return 0
        before="$after"
        tries=$((tries + 1))
        [ "$tries" -le 60 ] || fail "the program does not come to rest"
    done
}

keys() { xdotool key --delay 60 "$@"; }

# Waits up to ten seconds for a command to succeed.
eventually() {
    tries=0
    until "$@" 2>/dev/null; do
        tries=$((tries + 1))
        [ "$tries" -le 100 ] || return 1
        sleep 0.1
    done
}

title_has() { xdotool getwindowname "$window" | grep -q "$1"; }
title_lacks() { ! title_has "$1"; }

picture() {
    if command -v import >/dev/null 2>&1; then
        import -window root "$PICTURES/$1.png"
        say "picture: $PICTURES/$1.png"
    fi
}

# Waits for the program to end by itself.
ended() { ! kill -0 "$program" 2>/dev/null; }
expect_end() {
    eventually ended || fail "the window does not close"
    code=0
    wait "$program" || code=$?
    [ "$code" -eq 0 ] || fail "the program ended with code $code: $(cat "$WORK/log")"
}

inside() {
    trap 'kill "$program" 2>/dev/null || true' EXIT
    open_window "$WORK/performance.ogg" "$WORK/score.mid" "$WORK/truth.csv"
    say "the window opened the files that were given"
    picture opened

    # Any place among the notes is near an onset at this zoom.
    xdotool mousemove --window "$window" 640 150 mousedown 1
    for x in 650 660 670 680; do
        xdotool mousemove --window "$window" "$x" 150
        sleep 0.1
    done
    picture dragging
    xdotool mouseup 1
    eventually title_has changed || fail "dragging an onset changed nothing"
    wait_idle
    say "an onset was dragged"
    keys ctrl+z
    keys ctrl+shift+z Page_Down shift+period n Up Up
    wait_idle
    picture corrected

    keys ctrl+e
    wait_idle
    picture export
    keys Return
    eventually test -s "$WORK/performance.csv" || fail "nothing was exported"
    say "the alignment was exported: $(wc -l <"$WORK/performance.csv") lines"
    keys ctrl+p
    wait_idle
    keys Return
    eventually test -s "$WORK/performance.png" || fail "no picture was saved"
    say "a picture was saved"
    keys ctrl+s
    wait_idle
    keys Return
    eventually test -s "$WORK/performance.agogic" || fail "the session was not saved"
    eventually title_lacks changed || fail "a saved session is still called changed"
    keys F1
    wait_idle
    picture help
    keys Escape ctrl+q
    expect_end
    say "the session was saved and the window closed"

    open_window "$WORK/performance.agogic"
    title_has performance.agogic || fail "the session's name is not in the title"
    picture session
    keys space
    sleep 0.5
    keys space ctrl+q
    expect_end
    say "the session came back"

    mkdir "$WORK/moved"
    mv "$WORK/performance.ogg" "$WORK/score.mid" "$WORK/moved"
    open_window "$WORK/performance.agogic"
    title_has performance.agogic && fail "a session whose recording is missing was opened"
    picture missing
    xdotool type --delay 30 "$WORK/moved/performance.ogg"
    keys Return
    eventually title_has performance.agogic || fail "the recording that was moved was not taken"
    keys ctrl+q
    expect_end
    say "a recording that was moved was asked for, and the score beside it was found"
    trap - EXIT
}

if [ "${1:-}" = inside ]; then
    inside
    exit 0
fi

# --- Outside. ---

pictures="${1:-}"
[ -z "$pictures" ] || { mkdir -p "$pictures" && pictures="$(cd "$pictures" && pwd)"; }
cd "$(dirname "$0")/.."
if [ -z "${AGOGIC:-}" ]; then
    target="${CARGO_TARGET_DIR:-$(cargo metadata --format-version 1 --no-deps |
        sed 's/.*"target_directory":"\([^"]*\)".*/\1/')}"
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
WORK="$(mktemp -d)"
trap 'rm -rf "$WORK"' EXIT
"$AGOGIC" demo "$WORK" >/dev/null
mkdir "$WORK/home"
# The panes from edge to edge, so that their places do not depend on the width of the side panel.
printf '{"side_panel": false, "theme": "light", "window_size": [1440, 900]}' >"$WORK/home/preferences.json"
PICTURES="${pictures:-$WORK}"
export AGOGIC WORK PICTURES AGOGIC_HOME="$WORK/home" LIBGL_ALWAYS_SOFTWARE=1
xvfb-run -a -s "-screen 0 1440x900x24" tests/window.sh inside
