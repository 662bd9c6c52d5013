"""Real documents, end to end: tables, furniture, boxes, pages found, values answered."""
