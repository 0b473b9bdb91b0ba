"""Kernels of MDAV and V-MDAV: by a plain scan, by a filtered scan, and by searching a tree."""
