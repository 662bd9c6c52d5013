"""Gemini: LlamaIndex's GoogleGenAIEmbedding and GoogleGenAI over one hardened client.

The subclasses skip LlamaIndex's constructors, which build a client each and read the
environment otherwise than the SDK does: any value of ``GOOGLE_GENAI_USE_VERTEXAI``, ``false``
too, makes the embedding drop the key and look for Google Cloud credentials.
"""
