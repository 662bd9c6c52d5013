"""Fitting and measuring the model of evidence on the public sets below the folder ``--data``."""
