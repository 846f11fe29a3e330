"""A person with a browser: a page with camera, manual and buttons, served on this machine."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable

from jarvis_core.config import load_default
from jarvis_core.errors import RefusedError

from jarvis_agent.config import AgentConfig
from jarvis_agent.page.server import PageServer
from jarvis_agent.served import Bridge, ServedDoor
from jarvis_agent.toolbox import Layer


class PagePolicy(ServedDoor):
    """Serves one episode to a browser.

    Args:
        ready: told the address, which holds the token; default: says it on the error stream.
    """

    kind = "page"

    def __init__(
        self,
        name: str,
        layer: Layer,
        config: AgentConfig | None = None,
        *,
        ready: Callable[[str], None] | None = None,
    ) -> None:
        whole = config or load_default("agent", AgentConfig)
        super().__init__(name, layer, whole, whole.page.idle_s)
        self._ready = ready or _tell

    def _start(self, bridge: Bridge) -> Callable[[], None]:
        """Raises RefusedError where it can't listen."""
        where = self.config.page
        try:
            server = PageServer(where.host, where.port, bridge)
        except OSError as error:
            raise RefusedError(
                f"can't listen on {where.host}:{where.port} ({error.strerror})", fix="give another --port"
            ) from error
        thread = threading.Thread(target=server.serve_forever, name="page", daemon=True)
        thread.start()
        self._ready(server.address)

        def stop() -> None:
            server.shutdown()
            server.server_close()
            thread.join()

        return stop


def _tell(address: str) -> None:
    print(f"open in a browser: {address}", file=sys.stderr, flush=True)
