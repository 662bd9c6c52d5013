"""Pages as they are printed: words with boxes to lines, columns, paragraphs, headings, tables."""
