"""Teaches a base model of your own to read a RAIF cue and to answer in RAIF."""
