"""The program's window on a virtual display, driven by keys and clicks. Needs Xvfb, xdotool and ImageMagick's import."""
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

DISPLAY = ":" + str(200 + os.getpid() % 500)
# Panes from edge to edge and one size, so that everything has its place.
PREFERENCES = '{"side_panel": false, "theme": "light", "window_size": [1000, 700]}'


class Display:
    """A virtual display for as long as the `with` lasts."""

    def __enter__(self):
        self.server = subprocess.Popen(["Xvfb", DISPLAY, "-screen", "0", "1000x700x24", "-noreset"], stderr=subprocess.DEVNULL)
        for _ in range(100):
            if Path(f"/tmp/.X11-unix/X{DISPLAY[1:]}").exists():
                return self
            time.sleep(0.1)
        raise SystemExit("Xvfb does not start")

    def __exit__(self, *_):
        self.server.terminate()
        self.server.wait()


class Window:
    """The running program. Its files come first, then changes to its environment: None takes a variable away."""

    def __init__(self, binary, home, files, log, **changes):
        environment = {**os.environ, "DISPLAY": DISPLAY, "LIBGL_ALWAYS_SOFTWARE": "1", "WAYLAND_DISPLAY": None}
        environment |= {"AGOGIC_HOME": home and str(home), **changes}
        environment = {name: value for name, value in environment.items() if value is not None}
        self.log = Path(log)
        with self.log.open("w") as output:
            self.process = subprocess.Popen([str(binary), *map(str, files)], env=environment, stdout=output, stderr=output)

    def id(self):
        """The display's number of the window; none before it appears."""
        found = xdotool("search", "--all", "--onlyvisible", "--pid", self.process.pid, "--name", ".").split()
        return found[0] if found else ""

    def title(self):
        window = self.id()
        return xdotool("getwindowname", window) if window else ""

    def focus(self):
        """Puts the window in front and gives it the keyboard."""
        window = self.id()
        xdotool("windowraise", window)
        xdotool("windowfocus", "--sync", window)

    def wait_for(self, words, seconds=30):
        """Waits until the title has these words, then gives the window the keyboard; whether it came to that."""
        return self.wait_until(lambda title: words in title, seconds)

    def wait_until(self, condition, seconds=30):
        end = time.monotonic() + seconds
        while time.monotonic() < end and self.is_alive():
            title = self.title()
            if title and condition(title):
                self.focus()
                return True
            time.sleep(0.05)
        return False

    def rest(self):
        """Waits until hardly any processor time is used: what was to be found is found."""
        ticks = lambda: sum(map(int, Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()[11:13]))
        for _ in range(100):
            if not self.is_alive():
                print(f"ended with {self.process.returncode}: {self.log.read_text()}", file=sys.stderr, flush=True)
                return
            before = ticks()
            time.sleep(0.25)
            if ticks() - before <= 2:
                return

    def is_alive(self):
        return self.process.poll() is None

    def ends_within(self, seconds):
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def kill(self):
        self.process.kill()
        self.process.wait()


def xdotool(*words):
    done = subprocess.run(["xdotool", *map(str, words)], env={**os.environ, "DISPLAY": DISPLAY}, capture_output=True, text=True)
    return done.stdout.strip()


def keys(*names):
    xdotool("key", "--delay", "20", *names)


def click(x, y):
    xdotool("mousemove", x, y)
    # The place must be known to be under the pointer before it is pressed.
    time.sleep(0.1)
    xdotool("click", "1")


def keep_screenshot():
    """Takes a picture of the display that stays when the script has ended; where it is."""
    file = Path(tempfile.gettempdir()) / f"agogic-window-{os.getpid()}-{time.monotonic_ns() // 1_000_000}.png"
    subprocess.run(["import", "-window", "root", str(file)], env={**os.environ, "DISPLAY": DISPLAY}, check=True)
    return file
