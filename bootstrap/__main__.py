"""Run by ./jarvis as a script, with `python -I -S`: isolated from whatever Python path the shell has."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bootstrap.cli import main

sys.exit(main(sys.argv[1:]))
