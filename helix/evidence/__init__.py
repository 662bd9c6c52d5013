"""Evidence: what a learned, calibrated model says of a unit that may answer or bear out. Pure."""
