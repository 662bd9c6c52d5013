"""Natural questions over documents of packages, their gold marked before any answer was seen."""
