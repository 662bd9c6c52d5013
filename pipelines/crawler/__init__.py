"""Pages from the web: a guard at the socket, a polite fetch, a crawl that stays on its site.

``plan_crawl`` and ``import_url`` (plan.py) are what the rest of Helix calls; see docs/crawling.md.
"""
