"""Speech as text: recordings told by their bytes, and put to a model or to Whisper."""
