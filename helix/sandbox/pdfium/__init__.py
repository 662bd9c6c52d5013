"""pdfium by ctypes: the forty of its functions that read and draw pages.

``library.py`` finds the library that pypdfium2 brings, ``document.py`` opens files, pages and
bookmarks, ``objects.py`` lists what is drawn on a page, ``bitmap.py`` draws it. pdfium is not
thread-safe, and its calls keep Python's lock. docs/decisions/0032 says why not by pypdfium2's
own module.
"""
