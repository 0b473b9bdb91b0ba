"""``microagg risk``: what a table gives away before any release."""
