"""How a client can tell that a server decodes RAIF: a gauge among the server's metrics."""

from __future__ import annotations

from contextlib import suppress

GAUGE = "raif_plugin_info"
"""``raif_plugin_info{version="…"} 1`` at ``/metrics``, on servers that were started with RAIF only."""


def announce() -> None:
    """Registers the gauge; a second call changes nothing.

    Where several API servers share their metrics through files, the gauge is the largest of theirs.
    """
    from prometheus_client import Gauge

    from raif_integrations import __version__

    with suppress(ValueError):  # it is registered already
        gauge = Gauge(
            GAUGE,
            "The RAIF plugin of raif-integrations decodes tools and response formats.",
            ["version"],
            multiprocess_mode="max",
        )
        gauge.labels(version=__version__).set(1)
