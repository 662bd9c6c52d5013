"""Speech to text: recordings known by their bytes, transcribed by a model or by Whisper."""
