"""``microagg explain`` and ``microagg measures``: what names mean."""
