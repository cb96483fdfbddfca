"""``python -m jaxmotif``."""

import sys

from jaxmotif.cli import main

sys.exit(main())
