"""What ``raif-integrations doctor`` looks at.

``installation`` looks at this environment, ``server`` at a running server, ``round_trip`` lets a model write
RAIF. Each yields ``findings`` as it goes; ``listing`` shows them.
"""
