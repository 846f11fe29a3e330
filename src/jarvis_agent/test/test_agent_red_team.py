"""Programs that try to get out, to see what they must not see, or to stay for ever. None is checked beforehand."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psutil
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from agent_bench import Echo, best_isolation, run_caged
from jarvis_agent.cage.cage import ProgramEnd
from jarvis_agent.cage.isolation import Isolation, why_not

ROOT = Path(__file__).resolve().parents[3]
#: Nothing here takes this long unless the cage leaks.
PATIENCE_S = 60.0


# -- looking around: each attempt returns what it got, or raises

ATTEMPTS = """
import sys
def attempt_project_files():
    return open({config!r}).read()
def attempt_walk_to_project():
    import os
    return [f for f in (os.path.join(d, n) for d, _, ns in os.walk("/") for n in ns)
            if "jarvis" in f and not f.startswith("/cage/")][:5] or nothing()
def attempt_bag():
    return open({secret!r}).read()
def attempt_bag_by_glob():
    import glob
    return glob.glob({results!r} + "/**/*", recursive=True) or nothing()
def attempt_home():
    import os
    way_to_python = sys.prefix.split("/")
    return [n for n in os.listdir({home!r}) if n not in way_to_python] or nothing()
def attempt_etc_passwd():
    return open("/etc/passwd").read()
def attempt_proc_self():
    return open("/proc/self/environ").read()
def attempt_proc_parent():
    import os
    return os.listdir("/proc/1/fd")
def attempt_sys():
    import os
    return os.listdir("/sys/class/net")
def attempt_environment():
    import os
    return [n for n in os.environ if n not in ("PATH", "HOME", "LANG", "PYTHONDONTWRITEBYTECODE",
            "OPENBLAS_NUM_THREADS", "PWD")] or nothing()
def attempt_other_processes():
    import os
    return [p for p in range(3, 40000) if alive(p)] or nothing()
def alive(p):
    import os
    try:
        os.kill(p, 0)
        return True
    except OSError:
        return False
def attempt_signal_harness():
    import os, signal
    os.kill({pid}, signal.SIGTERM)
    return "sent"
def attempt_signal_parent():
    import os, signal
    os.kill(os.getppid() or 1, signal.SIGTERM)
    return "sent"
def attempt_tcp():
    import socket
    socket.create_connection(("127.0.0.1", {port}), 5)
    return "connected"
def attempt_dds_discovery():
    import socket
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.sendto(b"RTPS", ("239.255.0.1", 7400))
    return "sent"
def attempt_unix_socket():
    import socket
    socket.socket(socket.AF_UNIX).connect({unix!r})
    return "connected"
def attempt_name_lookup():
    import socket
    return socket.getaddrinfo("example.org", 80)
def attempt_subprocess():
    import subprocess
    return subprocess.run(["/bin/ls", "/"], capture_output=True, text=True).stdout
def attempt_system():
    import os
    return nothing() if os.system("true") else "ran"
def attempt_exec_python():
    import os, sys
    os.execv({python!r}, ["python", "-c", "print(1)"])
def attempt_fork():
    import os
    return os.fork()
def attempt_multiprocessing():
    import multiprocessing
    p = multiprocessing.get_context("fork").Process(target=print)
    p.start()
    return p.pid
def attempt_import_simulator():
    import jarvis_sim
    return str(jarvis_sim)
def attempt_import_by_path():
    import sys
    sys.path.insert(0, {source!r})
    import jarvis_core
    return str(jarvis_core)
def attempt_rclpy():
    import rclpy
    return str(rclpy)
def attempt_site_packages():
    import msgspec
    return str(msgspec)
def attempt_frames():
    frame, found = sys._getframe(), []
    while frame:
        found += [n for n in frame.f_globals if n in ("Toolbox", "tools", "Task", "World")]
        frame = frame.f_back
    return found or nothing()
def attempt_garbage_collector():
    import gc
    return [type(o).__name__ for o in gc.get_objects() if type(o).__module__.startswith("jarvis")] or nothing()
def attempt_subclasses():
    return [c.__name__ for c in ().__class__.__base__.__subclasses__() if "jarvis" in c.__module__] or nothing()
def attempt_memory_of_parent():
    return open("/proc/1/mem", "rb").read(1)
def attempt_ptrace():
    import ctypes
    return ctypes.CDLL(None).ptrace(16, 1, 0, 0) == 0 or nothing()
def attempt_mount():
    import ctypes
    return ctypes.CDLL(None).mount(b"none", b"/tmp", b"tmpfs", 0, None) == 0 or nothing()
def attempt_unshare():
    import os
    os.unshare(os.CLONE_NEWUSER)
    return "unshared"
def attempt_chroot_out():
    import os
    os.chroot("..")
    return "out"
def attempt_become_root():
    import os
    os.setuid(0)
    return os.getuid()
def attempt_write_root():
    open("/owned", "w").write("x")
    return "written"
def attempt_write_code():
    open("/cage/inside/main.py", "a").write("x")
    return "written"
def attempt_device():
    import os
    os.mknod("/tmp/disk", 0o60600, os.makedev(254, 0))
    return "made"
def attempt_run_from_scratch():
    import ctypes, shutil
    shutil.copy({python!r}, "/tmp/p")
    import os
    os.execv("/tmp/p", ["p"])
def attempt_raw_socket_call():
    import ctypes
    return ctypes.CDLL(None).syscall(41 if {machine!r} == "x86_64" else 198, 2, 1, 0) >= 0 or nothing()
def attempt_keyring():
    import ctypes
    return ctypes.CDLL(None).syscall(250 if {machine!r} == "x86_64" else 219, 0, -3, 1) >= 0 or nothing()
def attempt_shared_memory():
    from multiprocessing import shared_memory
    return shared_memory.SharedMemory("x", create=True, size=10).name
def attempt_loosen_limits():
    import resource
    resource.setrlimit(resource.RLIMIT_AS, (-1, -1))
    return "loosened"
def attempt_open_descriptors():
    import os
    found = []
    for fd in range(3, 64):
        try:
            info = os.fstat(fd)
            found.append((fd, info.st_mode))
        except OSError:
            pass
    return [f for f in found if f[1] & 0o170000 != 0o010000] or nothing()

class Nothing(Exception):
    pass
def nothing():
    raise Nothing("nothing there")

got = {{}}
for name, act in list(globals().items()):
    if name.startswith("attempt_") and ({only!r} is None or name[8:] in {only!r}):
        try:
            got[name[8:]] = ["got", repr(act())[:300]]
        except BaseException as error:
            got[name[8:]] = ["contained", type(error).__name__ + ": " + str(error)[:200]]
import json
echo(json.dumps(got))
"""
#: How an attempt that is contained ends; anything else would be a mistake in the attempt.
REFUSALS = {
    "Nothing", "FileNotFoundError", "PermissionError", "OSError", "ModuleNotFoundError", "gaierror", "ImportError",
    "ValueError", "NotADirectoryError",
}  # fmt: skip
NAMES = [line[12:-3] for line in ATTEMPTS.splitlines() if line.startswith("def attempt_")]


def kinds() -> list[Isolation]:
    return [Isolation.BUBBLEWRAP, Isolation.NAMESPACES]


def attempts(isolation: Isolation, folder: Path, only: list[str] | None = None) -> dict[str, Any]:
    """What each attempt got, all in one process; ``folder`` gets what they are after."""
    secret = folder / "bag" / "truth.mcap"
    secret.parent.mkdir()
    secret.write_text("where the bricks belong")
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        tempfile.TemporaryDirectory() as short,
        socket.socket(socket.AF_UNIX) as unix,
    ):
        unix.bind(f"{short}/u")
        unix.listen()
        program = ATTEMPTS.format(
            config=str(ROOT / "config" / "cell.yaml"),
            source=str(ROOT / "src" / "jarvis_core"),
            secret=str(secret),
            results=str(folder),
            home=os.path.expanduser("~"),
            pid=os.getpid(),
            port=server.getsockname()[1],
            unix=f"{short}/u",
            python=os.path.realpath(sys.executable),
            machine=os.uname().machine,
            only=only,
        )
        echo = Echo()
        end = run_caged(program, isolation, echo)
    assert end.reason == "finished", (end.message, end.output, end.traceback)
    got: dict[str, Any] = json.loads(echo.asked[-1][1]["value"])
    return got


@pytest.fixture(scope="module", params=kinds())
def loot(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    reason = why_not(request.param)
    if reason:
        pytest.skip(f"{request.param}: {reason}")
    return attempts(request.param, tmp_path_factory.mktemp("results"))


def test_there_are_enough_attempts() -> None:
    assert len(NAMES) >= 40


@pytest.mark.parametrize("name", NAMES)
def test_contained(loot: dict[str, Any], name: str) -> None:
    verdict, words = loot[name]
    assert verdict == "contained", words
    assert words.split(":")[0] in REFUSALS, words


def test_the_attempts_succeed_without_a_cage(tmp_path: Path) -> None:
    """Else their failure in the cage would prove nothing. Those that would harm the tests' process are left out."""
    harmless = ["project_files", "bag", "bag_by_glob", "etc_passwd", "proc_self", "sys", "tcp"]
    harmless += ["unix_socket", "subprocess", "system", "multiprocessing", "import_by_path", "site_packages"]
    harmless += ["raw_socket_call", "shared_memory", "dds_discovery"]
    got = attempts(Isolation.NONE, tmp_path, harmless)
    assert {name for name, (verdict, _) in got.items() if verdict == "got"} >= set(harmless) - {
        "dds_discovery",  # needs a route for multicast
        "shared_memory",  # needs /dev/shm
    }


# -- staying, breaking and flooding: each is ended from outside, and its end is explained

ENDED = {
    "infinite loop": ("while True: pass", {"own_s": 1.0}, "own time"),
    "loop that swallows everything": (
        "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
        {"own_s": 1.0},
        "own time",
    ),
    "silence": ("import time\ntime.sleep(1000)", {"silence_s": 1.0}, "silence"),
    "processor time": ("while True: pass", {"cpu_s": 1, "own_s": 30.0}, "own time"),
    "giant output": ("while True: print('x' * 100000)", {"output_kb": 200}, "output"),
    "output on the error stream": (
        "import sys\nwhile True: sys.stderr.write('x' * 100000)",
        {"output_kb": 200},
        "output",
    ),
    "memory": ("x = []\nwhile True: x.append(bytearray(10_000_000))", {"memory_mb": 700}, "memory"),
    "giant array": ("import numpy\nnumpy.ones(10**11)", {"memory_mb": 700}, "memory"),
    "giant message": ("echo('x' * 1_000_000)", {"message_kb": 64}, "protocol"),
    "bytes that are no frame": ("import os, sys\nos.write(OUT, b'\\xff' * 64)\necho(1)", {}, "protocol"),
    "a frame that is no JSON": (
        "import os, struct\nos.write(OUT, struct.pack('!II', 4, 0) + b'{{{{')\necho(1)",
        {},
        "protocol",
    ),
    "a pickle": (
        "import os, struct, pickle\nd = pickle.dumps(print)\nos.write(OUT, struct.pack('!II', len(d), 0) + d)\necho(1)",
        {},
        "protocol",
    ),
    "JSON nested without end": (
        "import os, struct\nd = b'[' * 50000\nos.write(OUT, struct.pack('!II', len(d), 0) + d)\necho(1)",
        {},
        "protocol",
    ),
    "an array that is not there": (
        'import os, struct\nd = b\'{"$array": ["<f8", [1000000, 1000000], 0]}\'\n'
        "os.write(OUT, struct.pack('!II', len(d), 0) + d)\necho(1)",
        {},
        "protocol",
    ),
    "an array of objects": (
        'import os, struct\nd = b\'{"$array": ["O", [1], 0]}\'\n'
        "os.write(OUT, struct.pack('!II', len(d), 8) + d + b'12345678')\necho(1)",
        {},
        "protocol",
    ),
    "half a frame": (
        "import os, struct, time\nos.write(OUT, struct.pack('!II', 100, 0) + b'{')\ntime.sleep(1000)",
        {"silence_s": 1.0},
        "silence",
    ),
    "the pipe closed": ("import os, time\nos.close(OUT)\ntime.sleep(1000)", {}, "protocol"),
    "a sudden exit": ("import os\nos._exit(3)", {}, "died"),
    "a crash of the interpreter": ("import ctypes\nctypes.string_at(0)", {}, "died"),
    "answers that are never read": (
        "import json, os, struct\n"
        "d = json.dumps({'call': 'echo', 'arguments': {'value': 'x' * 50000}}).encode()\n"
        "while True: os.write(OUT, struct.pack('!II', len(d), 0) + d)",
        {"silence_s": 2.0},
        "silence",
    ),
    "recursion": ("def f(): f()\nf()", {}, "crashed"),
    "an error": ("1 / 0", {}, "crashed"),
    "an error that can't be shown": (
        "class E(Exception):\n    def __str__(self): raise ValueError\nraise E",
        {},
        "crashed",
    ),
    "lies about its end": (
        "import os, struct, json\nd = json.dumps({'end': 'own time', 'message': 'x'}).encode()\n"
        "os.write(OUT, struct.pack('!II', len(d), 0) + d)\nimport time\ntime.sleep(1000)",
        {},
        "crashed",
    ),
    "fork bomb": ("import os\nwhile True: os.fork()", {}, "crashed"),
    "thread bomb": (
        "import threading, time\nwhile True: threading.Thread(target=time.sleep, args=(1000,)).start()",
        {"memory_mb": 700, "own_s": 20.0},
        "crashed",
    ),
    "a full disk": (
        "n = 0\nwhile True:\n    n += 1\n    open(f'/tmp/{n}', 'wb').write(bytes(1_000_000))",
        {"scratch_mb": 4},
        "crashed",
    ),
    "the API redefined": ("echo = None\nimport builtins\nbuiltins.print = None\necho()", {}, "crashed"),
}
#: Programs find the descriptor they write requests to by looking for their pipes.
FIND_OUT = """
import os, fcntl
def end_of_pipe(mode):
    for fd in range(3, 64):
        try:
            if fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_ACCMODE == mode:
                return fd
        except OSError:
            pass
OUT, IN = end_of_pipe(os.O_WRONLY), end_of_pipe(os.O_RDONLY)
"""


@pytest.fixture(scope="module")
def ends() -> Iterator[dict[str, Future[ProgramEnd]]]:
    """How all of them ended; most only wait, so they run beside each other."""
    best_isolation()
    with ThreadPoolExecutor(8) as pool:
        yield {
            name: pool.submit(run_caged, (FIND_OUT if "OUT" in program else "") + program, **changed)
            for name, (program, changed, _) in ENDED.items()
        }


@pytest.mark.parametrize("name", ENDED)
def test_ended_and_explained(ends: dict[str, Future[ProgramEnd]], name: str) -> None:
    end = ends[name].result(PATIENCE_S)
    assert end.reason == ENDED[name][2], end
    assert end.message
    assert len(end.output) < 100_000


def test_calls_that_do_not_exist_are_refused_not_served() -> None:
    """Asking the simulator, or the harness's own objects, by name."""
    program = """
import os, json, struct
def ask(name, arguments={}):
    d = json.dumps({"call": name, "arguments": arguments}).encode()
    os.write(OUT, struct.pack("!II", len(d), 0) + d)
    head = os.read(IN, 8)
    return os.read(IN, sum(struct.unpack("!II", head)))
for name in ("true_scene", "targets", "_tools", "__class__", "usage", "/sim/get_scene", ""):
    assert b"bad_call" in ask(name), name
"""
    end = run_caged(FIND_OUT + program)
    assert end.reason == "finished", end
    assert end.calls == 7


def test_nothing_is_left_running() -> None:
    """A program that would not end is gone with everything it started when ``run`` returns."""
    met: list[psutil.Process] = []

    def serve(name: str, arguments: dict[str, Any]) -> Any:
        met.extend(psutil.Process().children(recursive=True))

    run_caged("import time\necho(1)\ntime.sleep(1000)", None, serve, silence_s=0.5)
    assert met
    assert psutil.wait_procs(met, PATIENCE_S)[1] == []


def test_the_program_dies_with_its_harness() -> None:
    """Killed without a chance to clean up, the harness leaves no program behind."""
    best_isolation()
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); from agent_bench import run_caged; "
        "run_caged('import time; echo(1); time.sleep(1000)', None, lambda n, a: print('called', flush=True))"
    )
    words = [sys.executable, "-c", code, str(Path(__file__).parent)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as harness:
        assert harness.stdout is not None
        assert harness.stdout.readline() == "called\n"
        programs = psutil.Process(harness.pid).children(recursive=True)
        harness.send_signal(signal.SIGKILL)
    assert programs
    assert psutil.wait_procs(programs, PATIENCE_S)[1] == []
