"""What all kernels share: how they are compiled and cached, and vector operations."""
