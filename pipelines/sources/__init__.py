"""Sources that stay in step: folders, buckets, repositories, sites and mailboxes."""
