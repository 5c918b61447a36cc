"""``python -m raif_integrations.cli``: the command where no script is installed."""

import sys

from raif_integrations.cli import main

sys.exit(main())
