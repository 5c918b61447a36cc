"""What is said: OpenAI-shaped message dicts in, message dicts ready for any chat template out.

``content`` flattens and neutralises single messages, ``history`` brings a whole conversation into
alternating turns, ``prompt`` adds the cue to the last user turn, ``routing`` asks which tool to
call, ``reasoning`` keeps thinking apart from the answer. Pure: no framework, no engine.
"""
